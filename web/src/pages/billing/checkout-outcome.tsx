import { useEffect } from "react";
import type { Checkout } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { refreshMoney } from "./refresh-money.ts";

const pollMs = 1_500;
/** Stripe confirms within seconds; after that a reload shows it. */
const pollsMax = 40;

/** Shown after the return from Stripe, possibly before Stripe's webhook arrives. */
export function CheckoutOutcome({ id, isCanceled }: { id: string; isCanceled: boolean }) {
  const answers = useQueryCache();
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
        title="Could not load this payment."
        error={checkout.error}
        onRetry={() => void checkout.refetch()}
      />
    );
  }
  if (checkout.data === undefined) return <Notice kind="hint" title="Loading your payment …" />;
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
      return { kind: "success", title: `${money} added.`, text: "It is in your balance." };
    case "expired":
      return {
        kind: "warning",
        title: "This payment expired.",
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
        title: "The amount paid differs from the amount requested.",
        text: "Nothing was added yet. The operator reviews this payment.",
      };
    case "open":
      if (isCanceled) {
        return { kind: "hint", title: "Payment canceled.", text: "Nothing was charged to your card." };
      }
      return url === null
        ? { kind: "hint", title: `${money} is being processed.`, text: "This payment method takes a few days." }
        : {
            kind: "hint",
            title: `Waiting for your payment of ${money} …`,
            text: "It is added when Stripe confirms it.",
          };
  }
}
