import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { CheckField } from "../../design/check-field.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Stat } from "../../design/stat.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { Money } from "../../parts/format/money.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useDraft } from "../../parts/forms/use-draft.ts";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { BucketList } from "../../parts/records/bucket-list.tsx";
import { SupportContact } from "../../parts/records/support-contact.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { PlanSection } from "./plan-section.tsx";
import { refreshMoney } from "./refresh-money.ts";

const route = getRouteApi("/signed-in/console/console/billing");

const CheckoutOutcome = lazyPart(async () => (await import("./checkout-outcome.tsx")).CheckoutOutcome);
const PaymentList = lazyPart(async () => (await import("./payment-list.tsx")).PaymentList);
const AutoTopUpSection = lazyPart(async () => (await import("./auto-top-up.tsx")).AutoTopUpSection);
const MailAlertsSection = lazyPart(async () => (await import("./mail-alerts.tsx")).MailAlertsSection);
const DocumentsSection = lazyPart(async () => (await import("./billing-details.tsx")).DocumentsSection);
const StatementSection = lazyPart(
  async () => (await import("./statement-section.tsx")).StatementSection,
  <Skeleton className="h-64" />,
);

export function BillingPage() {
  const [search, change] = useSearchControls(route.useSearch(), route.useNavigate());
  const { checkout, canceled, from = "", to = "" } = search;
  const { time_zone: timeZone } = useSession().account;
  const site = useTableQuery(queryTable.site.settings());
  if (site.error !== null && site.data === undefined) {
    return (
      <ConsoleFrame title="Billing">
        <LoadFailure error={site.error} onRetry={() => void site.refetch()} />
      </ConsoleFrame>
    );
  }
  return (
    <ConsoleFrame title="Billing">
      {checkout !== undefined && <CheckoutOutcome id={checkout} isCanceled={canceled !== undefined} />}
      <DebtNotice />
      <BalanceSection timeZone={timeZone} />
      <PlanSection timeZone={timeZone} />
      {site.data === undefined ? (
        <Skeleton className="h-64" />
      ) : (
        <>
          <div className="grid gap-x-12 gap-y-10 lg:grid-cols-2">
            <AddCredit site={site.data} />
            <RedeemCode timeZone={timeZone} />
          </div>
          {site.data.has_auto_top_up && <AutoTopUpSection />}
          <MailAlertsSection />
          <PaymentList isOffered={site.data.payments === "stripe"} timeZone={timeZone} />
          <DocumentsSection />
          <StatementSection
            period={{ from, to }}
            onPeriod={(period) => change({ ...period, checkout: "", canceled: "" })}
            currency={site.data.currency}
            timeZone={timeZone}
          />
        </>
      )}
    </ConsoleFrame>
  );
}

function BalanceSection({ timeZone }: { timeZone: string }) {
  const balance = useTableQuery(queryTable.balance.now());
  if (balance.error !== null && balance.data === undefined) {
    return <LoadFailure error={balance.error} onRetry={() => void balance.refetch()} />;
  }
  const write = (name: "available_balance" | "frozen_balance" | "cash_balance" | "gift_balance") =>
    balance.data === undefined ? undefined : <Money amount={balance.data[name]} currency={balance.data.currency} />;
  return (
    <div className="grid gap-x-12 gap-y-8 lg:grid-cols-2">
      <div className="grid grid-cols-2 content-start gap-x-8 gap-y-6">
        <Stat label="Available balance" value={write("available_balance")} detail="Cash and gifts not on hold" />
        <Stat label="On hold" value={write("frozen_balance")} detail="For running calls and tasks" />
        <Stat label="Cash" value={write("cash_balance")} />
        <Stat label="Gifts" value={write("gift_balance")} />
      </div>
      <Section title="Spent in this order" intro="Including amounts on hold.">
        <BucketList currency={balance.data?.currency ?? "USD"} timeZone={timeZone} include="money" />
      </Section>
    </div>
  );
}

/** A payment was reversed after its credit was spent, so the account is suspended until the debt is paid. */
function DebtNotice() {
  const { data: debt } = useTableQuery(queryTable.balance.debt());
  if (debt === undefined || debt.data.length === 0) return null;
  const kinds = new Set(debt.data.map(({ kind }) => (kind === "refund" ? "refunded" : "disputed")));
  return (
    <Notice kind="warning" title={`Account suspended: ${formatMoney(debt.amount, debt.currency)} owed`}>
      <p>
        A payment was {[...kinds].join(" or ")} after its credit had been spent. API calls are refused until the amount
        is paid. Add credit below: it pays this first. If you think this is wrong, contact the service's operator.
      </p>
    </Notice>
  );
}

type Site = {
  payments: "stripe" | "none";
  payment_amount_min: string;
  payment_amount_max: string;
  payment_amounts: string[];
  has_auto_top_up: boolean;
  currency: string;
  support_contact: string | null;
};

/** By card if card payments are enabled; else how to get credit. */
function AddCredit({ site }: { site: Site }) {
  if (site.payments === "stripe") return <CardPayment site={site} />;
  return (
    <Section
      title="Add credit"
      intro={
        <>
          Card payments aren't enabled. Ask <SupportContact contact={site.support_contact} /> to add credit to your
          account, or redeem a code.
        </>
      }
    />
  );
}

function CardPayment({ site }: { site: Site }) {
  const { currency, payment_amount_min: least, payment_amount_max: most } = site;
  const [savesCard, setSavesCard] = useState(false);
  const [amount, setAmount] = useDraft("payment-amount");
  const begin = useAction(
    (text: string) =>
      ask(api.POST("/checkouts", { body: { amount: text, ...(savesCard ? { save_card: true } : {}) } })),
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
        {site.payment_amounts.length > 0 && (
          <div className="flex flex-wrap gap-2">
            {site.payment_amounts.map((preset) => (
              <Button key={preset} onClick={() => setAmount(preset)}>
                {formatMoney(preset, currency)}
              </Button>
            ))}
          </div>
        )}
        {site.has_auto_top_up && (
          <CheckField
            label="Save this card"
            name="save-card"
            isChecked={savesCard}
            onChange={setSavesCard}
            hint="For automatic top-up. It is charged only after you switch that on."
          />
        )}
        <FormError message={begin.errorBeside("amount")} />
        <Button type="submit" look="primary" isBusy={begin.isBusy}>
          Pay by card
        </Button>
      </form>
    </Section>
  );
}

const redeem = (code: string) => ask(api.POST("/codes/redeem", { body: { code } }));
type Redeemed = Awaited<ReturnType<typeof redeem>>;

/** A code is worth money, so it is never stored as a draft. */
function RedeemCode({ timeZone }: { timeZone: string }) {
  const answers = useQueryCache();
  const [code, setCode] = useState("");
  const [redeemed, setRedeemed] = useState<Redeemed | null>(null);
  const action = useAction(redeem, (result) => {
    setCode("");
    setRedeemed(result);
    void refreshMoney(answers);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setRedeemed(null);
    action.run(code.trim());
  };
  // Every error but the rate limit concerns the code field.
  const beside = action.errorBeside("code");
  return (
    <Section title="Redeem a code" intro="Each code can be redeemed once. Its credit is available immediately.">
      <form onSubmit={submit} noValidate className="flex max-w-sm flex-col items-start gap-4">
        <div className="w-full">
          <TextField
            label="Code"
            name="code"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={100}
            placeholder="7KQ2M-X4TRA-9HPVC-E6WN3"
            className="font-mono"
            value={code}
            onChange={setCode}
            error={action.errorAt("code")}
          />
        </div>
        <FormError message={beside} />
        {redeemed !== null && (
          <Notice kind="success" title={`${formatMoney(redeemed.amount, redeemed.currency)} added`}>
            {describeEnd(redeemed, timeZone)} Available balance: {formatMoney(redeemed.balance, redeemed.currency)}.
          </Notice>
        )}
        <Button type="submit" isBusy={action.isBusy}>
          Redeem
        </Button>
      </form>
    </Section>
  );
}

function describeEnd({ kind, expires_at: expiresAt }: Redeemed, timeZone: string): string {
  if (kind === "cash") return "It does not expire.";
  return expiresAt === null ? "This is gift credit." : `This gift credit expires ${formatMoment(expiresAt, timeZone)}.`;
}
