import type { FormEvent } from "react";
import { api, ask } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { Section } from "../../design/section.tsx";
import { TextField } from "../../design/text-field.tsx";
import { FormError } from "../../parts/form-error.tsx";
import { formatMoney } from "../../parts/format-money.ts";
import { useAction } from "../../parts/use-action.ts";
import { useDraft } from "../../parts/use-draft.ts";

type Site = { payments: "stripe" | "none"; payment_amount_min: string; payment_amount_max: string; currency: string };

/** By card where the service takes cards; otherwise who can help. */
export function AddMoney({ site }: { site: Site }) {
  if (site.payments === "stripe") return <CardPayment site={site} />;
  return (
    <Section title="Add money">
      <p className="max-w-prose text-sm text-ink-soft">
        This service takes no cards. Ask whoever runs it to top up your account, or to give you a code that you can
        redeem here.
      </p>
    </Section>
  );
}

function CardPayment({ site: { currency, payment_amount_min: least, payment_amount_max: most } }: { site: Site }) {
  const [amount, setAmount] = useDraft("payment-amount");
  const begin = useAction(
    (text: string) => ask(api.POST("/checkouts", { body: { amount: text } })),
    ({ url }) => {
      // What was typed has become a payment; whoever comes back begins another one.
      setAmount("");
      if (url !== null) window.location.assign(url);
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.run(amount.trim().replace(",", "."));
  };
  return (
    <Section title="Add money" intro="By card, on a page of Stripe's. Your card's number never comes here.">
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
