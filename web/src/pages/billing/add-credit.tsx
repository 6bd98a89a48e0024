import type { FormEvent } from "react";
import { api, ask } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { Section } from "../../design/section.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useDraft } from "../../parts/forms/use-draft.ts";
import { SupportContact } from "../../parts/records/support-contact.tsx";

type Site = {
  payments: "stripe" | "none";
  payment_amount_min: string;
  payment_amount_max: string;
  currency: string;
  support_contact: string | null;
};

/** By card if card payments are enabled; else how to get credit. */
export function AddCredit({ site }: { site: Site }) {
  if (site.payments === "stripe") return <CardPayment site={site} />;
  return (
    <Section title="Add credit">
      <p className="max-w-prose text-sm text-ink-soft">
        Card payments aren't enabled. Ask <SupportContact contact={site.support_contact} /> to add credit to your
        account, or redeem a code.
      </p>
    </Section>
  );
}

function CardPayment({ site: { currency, payment_amount_min: least, payment_amount_max: most } }: { site: Site }) {
  const [amount, setAmount] = useDraft("payment-amount");
  const begin = useAction(
    (text: string) => ask(api.POST("/checkouts", { body: { amount: text } })),
    ({ url }) => {
      // The amount belongs to this checkout; the next one starts empty.
      setAmount("");
      if (url !== null) window.location.assign(url);
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.run(amount.trim().replace(",", "."));
  };
  return (
    <Section title="Add credit" intro="By card, on Stripe's checkout page. Your card number never reaches us.">
      <form onSubmit={submit} noValidate className="flex max-w-sm flex-col items-start gap-4">
        <div className="w-full">
          <TextField
            label={`Amount in ${currency}`}
            name="amount"
            inputMode="decimal"
            autoComplete="off"
            maxLength={20}
            placeholder="20.00"
            value={amount}
            onChange={setAmount}
            error={begin.errorAt("amount")}
            hint={`From ${formatMoney(least, currency)} to ${formatMoney(most, currency)}.`}
          />
        </div>
        <FormError message={begin.errorBeside("amount")} />
        <Button type="submit" look="primary" isBusy={begin.isBusy}>
          Pay by card
        </Button>
      </form>
    </Section>
  );
}
