import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { PlanOffers } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { formatAmount, nameQuota } from "../../parts/format/format-amount.ts";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { refreshMoney } from "./refresh-money.ts";

type Offer = PlanOffers["data"][number];
type Choice = { kind: "buy"; offer: Offer } | { kind: "cancel" };

const quotaKinds = ["text", "image", "video"] as const;

/** The plans for sale. Nothing if the operator sells none. */
export function PlanOffersSection({ timeZone }: { timeZone: string }) {
  const plans = useTableQuery(queryTable.plans.offers());
  const [choice, setChoice] = useState<Choice | null>(null);
  if (plans.error !== null && plans.data === undefined) {
    return <LoadFailure error={plans.error} onRetry={() => void plans.refetch()} />;
  }
  const offers = plans.data;
  if (offers === undefined || offers.is_managed || (offers.data.length === 0 && offers.own === null)) return null;
  return (
    <Section
      title="Plans"
      intro={describeOwn(offers, timeZone)}
      actions={
        offers.own?.renews === true && <Button onClick={() => setChoice({ kind: "cancel" })}>Cancel plan</Button>
      }
    >
      <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {offers.data.map((offer) => (
          <OfferCard
            key={offer.id}
            offer={offer}
            currency={offers.currency}
            state={offer.id === offers.own?.id ? (offers.own.renews ? "own" : "canceled") : "other"}
            onBuy={() => setChoice({ kind: "buy", offer })}
          />
        ))}
      </ul>
      {choice !== null && (
        <ChoiceDialog choice={choice} offers={offers} timeZone={timeZone} onClose={() => setChoice(null)} />
      )}
    </Section>
  );
}

function describeOwn({ own, data, currency }: PlanOffers, timeZone: string): string {
  if (own === null) return "Paid from your balance at once, and renewed from it until you cancel.";
  const name = data.find(({ id }) => id === own.id)?.name ?? own.id;
  const until = own.ends_at === null ? "with its period" : formatMoment(own.ends_at, timeZone);
  return own.renews
    ? `${name} renews ${until} for ${formatMoney(own.price, currency)}, if your balance covers it.`
    : `${name} ends ${until} and is not renewed.`;
}

type OfferCardProps = { offer: Offer; currency: string; state: "own" | "canceled" | "other"; onBuy(): void };

function OfferCard({ offer, currency, state, onBuy }: OfferCardProps) {
  const given = quotaKinds.filter((kind) => offer.quotas[kind] > 0);
  const write = (kind: (typeof quotaKinds)[number]): string =>
    formatAmount({ unit: kind, amount: String(offer.quotas[kind]), currency: "" });
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line p-4 text-sm">
      <h3 className="text-base font-semibold">{offer.name}</h3>
      <p className="tabular-nums">
        {formatMoney(offer.price, currency)} a {offer.period}
      </p>
      <ul className="text-ink-soft">
        {given.map((kind) => (
          <li key={kind}>
            {nameQuota(kind)}: {write(kind)}
          </li>
        ))}
      </ul>
      <div className="mt-auto">
        {state === "own" ? (
          <p className="text-ink-soft">Your plan</p>
        ) : (
          <Button onClick={onBuy}>{state === "canceled" ? `Renew ${offer.name}` : `Buy ${offer.name}`}</Button>
        )}
      </div>
    </li>
  );
}

type ChoiceDialogProps = { choice: Choice; offers: PlanOffers; timeZone: string; onClose(): void };

function ChoiceDialog({ choice, offers, timeZone, onClose }: ChoiceDialogProps) {
  const answers = useQueryCache();
  const act = useAction(
    (wanted: Choice) =>
      wanted.kind === "cancel"
        ? ask(api.DELETE("/plans/own"))
        : ask(api.POST("/plans/own", { body: { plan_id: wanted.offer.id, price: wanted.offer.price } })),
    (next) => {
      answers.write(queryTable.plans.offers(), next);
      void answers.refresh("account");
      void refreshMoney(answers);
      onClose();
    },
  );
  const { title, text, action } = describeChoice(choice, offers, timeZone);
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="text-sm text-ink-soft">{text}</p>
      <FormError message={act.errorBeside()} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Back</Button>
        <Button
          look={choice.kind === "cancel" ? "danger" : "primary"}
          isBusy={act.isBusy}
          onClick={() => act.run(choice)}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

function describeChoice(
  choice: Choice,
  { own, currency }: PlanOffers,
  timeZone: string,
): { title: string; text: string; action: string } {
  if (choice.kind === "cancel") {
    const until = own?.ends_at == null ? "the end of its period" : formatMoment(own.ends_at, timeZone);
    return {
      title: "Cancel your plan?",
      text: `You keep it until ${until}. Then calls are paid from your balance.`,
      action: "Cancel plan",
    };
  }
  const { offer } = choice;
  const price = `${formatMoney(offer.price, currency)} a ${offer.period}`;
  if (own?.id === offer.id) {
    return {
      title: `Renew ${offer.name}?`,
      text: `It renews for ${price} again. Nothing is charged now.`,
      action: "Renew",
    };
  }
  const replaced = own === null ? "" : " It replaces your plan at once, without a refund.";
  return {
    title: `Buy ${offer.name}?`,
    text: `${price}, paid from your balance now and at each renewal until you cancel.${replaced}`,
    action: `Buy for ${formatMoney(offer.price, currency)}`,
  };
}
