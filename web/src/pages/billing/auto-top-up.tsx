import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { AutoTopUp } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge, type BadgeKind } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

/** The saved card, and when to charge it. */
export function AutoTopUpSection() {
  const topUp = useTableQuery(queryTable.topUps.now());
  if (topUp.error !== null && topUp.data === undefined) {
    return <LoadFailure error={topUp.error} onRetry={() => void topUp.refetch()} />;
  }
  if (topUp.data === undefined) return <Skeleton className="h-48" />;
  const { state, card } = topUp.data;
  return (
    <Section
      title="Automatic top-up"
      intro="Charges your saved card when your balance runs low, within about a minute."
      actions={<Badge kind={looks[state].kind}>{looks[state].name}</Badge>}
    >
      <StopNotice topUp={topUp.data} />
      {card === null ? (
        <p className="max-w-prose text-sm text-ink-soft">
          No card saved. Add credit and check “Save this card” to use automatic top-up.
        </p>
      ) : (
        <>
          <CardLine card={card} />
          <TopUpForm topUp={topUp.data} />
        </>
      )}
    </Section>
  );
}

const looks: Record<AutoTopUp["state"], { kind: BadgeKind; name: string }> = {
  on: { kind: "good", name: "On" },
  off: { kind: "neutral", name: "Off" },
  stopped: { kind: "bad", name: "Stopped" },
};

const stopTexts: Record<NonNullable<AutoTopUp["stop_reason"]>, { title: string; text: string }> = {
  declined: {
    title: "Your card was declined.",
    text: "Ask your bank, or pay once with another card and save it. Then switch automatic top-up on again.",
  },
  reversed: {
    title: "A payment was refunded or disputed.",
    text: "Switch automatic top-up on again if you still want it.",
  },
  review: {
    title: "A charge could not be confirmed.",
    text: "If your card was charged and the credit is missing, contact support.",
  },
};

function StopNotice({ topUp: { stop_reason: reason } }: { topUp: AutoTopUp }) {
  if (reason === null) return null;
  return (
    <Notice kind="warning" title={stopTexts[reason].title}>
      {stopTexts[reason].text}
    </Notice>
  );
}

function CardLine({ card }: { card: NonNullable<AutoTopUp["card"]> }) {
  const answers = useQueryCache();
  const remove = useAction(
    () => ask(api.DELETE("/saved_card")),
    (next) => answers.write(queryTable.topUps.now(), next),
  );
  // Hidden from operators who see the account.
  const expiry = card.exp_month === 0 ? "" : `, expires ${String(card.exp_month).padStart(2, "0")}/${card.exp_year}`;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
        <span className="tabular-nums">
          <span className="capitalize">{card.brand}</span> •••• {card.last4}
          {expiry}
        </span>
        <Button look="quiet" isBusy={remove.isBusy} onClick={() => remove.run(undefined)}>
          Remove card
        </Button>
      </div>
      <FormError message={remove.errorBeside()} />
    </div>
  );
}

const clean = (text: string): string => text.trim().replace(",", ".");

function TopUpForm({ topUp }: { topUp: AutoTopUp }) {
  const answers = useQueryCache();
  const repeat = useReauthentication();
  const [threshold, setThreshold] = useState(topUp.threshold ?? "");
  const [amount, setAmount] = useState(topUp.amount ?? "");
  const [monthMax, setMonthMax] = useState(topUp.month_max ?? "");
  const write = (next: AutoTopUp) => answers.write(queryTable.topUps.now(), next);
  const turnOn = useAction(
    (body: { threshold: string; amount: string; month_max: string }) =>
      repeat(() => ask(api.POST("/auto_top_up", { body }))),
    write,
  );
  const turnOff = useAction(() => ask(api.DELETE("/auto_top_up")), write);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    turnOn.run({ threshold: clean(threshold), amount: clean(amount), month_max: clean(monthMax) });
  };
  const { currency, charged_this_month: charged } = topUp;
  const common = { inputMode: "decimal", autoComplete: "off", maxLength: 20 } as const;
  return (
    <form onSubmit={submit} noValidate className="flex max-w-2xl flex-col items-start gap-4">
      <div className="grid w-full gap-4 sm:grid-cols-3">
        <TextField
          {...common}
          label={`When below, in ${currency}`}
          name="threshold"
          placeholder="10.00"
          value={threshold}
          onChange={setThreshold}
          error={turnOn.errorAt("threshold")}
        />
        <TextField
          {...common}
          label={`Charge, in ${currency}`}
          name="top-up-amount"
          placeholder="20.00"
          value={amount}
          onChange={setAmount}
          error={turnOn.errorAt("amount")}
        />
        <TextField
          {...common}
          label={`At most a month, in ${currency}`}
          name="month-max"
          placeholder="100.00"
          value={monthMax}
          onChange={setMonthMax}
          error={turnOn.errorAt("month_max")}
          hint={`${formatMoney(charged, currency)} charged this month.`}
        />
      </div>
      <FormError message={turnOn.errorBeside("threshold", "amount", "month_max") ?? turnOff.errorBeside()} />
      <div className="flex flex-wrap gap-3">
        <Button type="submit" look="primary" isBusy={turnOn.isBusy}>
          {topUp.state === "on" ? "Save changes" : "Switch on"}
        </Button>
        {topUp.state === "on" && (
          <Button isBusy={turnOff.isBusy} onClick={() => turnOff.run(undefined)}>
            Switch off
          </Button>
        )}
      </div>
    </form>
  );
}
