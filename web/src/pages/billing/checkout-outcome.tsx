import { useEffect } from "react";
import type { Checkout } from "../../api/ask-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { formatMoney } from "../../parts/format-money.ts";
import { refreshMoney } from "./refresh-money.ts";

const pollMs = 1_500;
/** Stripe's word comes within seconds; after that it is heard by a reload. */
const pollsMax = 40;

/** What became of a payment, for somebody who comes back from Stripe's page, perhaps before Stripe's word does. */
export function CheckoutOutcome({ id, isCanceled }: { id: string; isCanceled: boolean }) {
  const answers = useAnswerCache();
  const checkout = useTableQuery(queryTable.checkouts.one(id), {
    decideRefreshMs: (checkout, answers) =>
      checkout?.state === "open" && !isCanceled && answers < pollsMax ? pollMs : null,
  });
  const state = checkout.data?.state;
  useEffect(() => {
    if (state === "paid") void refreshMoney(answers);
  }, [state, answers]);
  if (checkout.error !== null && checkout.data === undefined) {
    return (
      <LoadFailure
        title="This payment cannot be shown."
        error={checkout.error}
        onRetry={() => void checkout.refetch()}
      />
    );
  }
  if (checkout.data === undefined) return <Notice kind="hint" title="Looking for your payment …" />;
  const { kind, title, text } = describeOutcome(checkout.data, isCanceled);
  return (
    <Notice kind={kind} title={title}>
      {text}
    </Notice>
  );
}

type Outcome = { kind: "success" | "hint" | "warning" | "error"; title: string; text: string };

function describeOutcome({ state, url, amount, currency }: Checkout, isCanceled: boolean): Outcome {
  const money = formatMoney(amount, currency);
  switch (state) {
    case "paid":
      return { kind: "success", title: `${money} arrived.`, text: "It is in your balance." };
    case "expired":
      return {
        kind: "warning",
        title: "This payment was not made in time.",
        text: "Nothing was charged to your card.",
      };
    case "failed":
      return {
        kind: "error",
        title: "This payment failed.",
        text: "Nothing was added. Try again, or use another card.",
      };
    case "mismatched":
      return {
        kind: "error",
        title: "Another amount arrived than was asked for.",
        text: "It was not added by itself. Whoever runs this service looks at it.",
      };
    case "open":
      if (isCanceled) {
        return { kind: "hint", title: "You left before paying.", text: "Nothing was charged to your card." };
      }
      return url === null
        ? { kind: "hint", title: `${money} is on its way.`, text: "This way of paying takes some days." }
        : {
            kind: "hint",
            title: `Waiting for your payment of ${money} …`,
            text: "It is added when Stripe confirms it.",
          };
  }
}
