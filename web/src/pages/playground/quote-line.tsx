import { ApiError } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { type Quote, useQuote } from "./use-quote.ts";

/** What a message would cost. It takes its line before there is a price, so that nothing moves. */
export function QuoteLine({ path, request }: { path: string; request: Record<string, unknown> | null }) {
  const { quote, error } = useQuote(path, request);
  return (
    <p
      role="note"
      aria-label="Price of this message"
      className="-mt-3 min-h-[1lh] px-1 text-sm text-ink-soft tabular-nums"
    >
      {quote !== null && <QuotedPrice quote={quote} />}
      {quote === null && error !== null && <QuoteFailure error={error} />}
    </p>
  );
}

function QuotedPrice({ quote: { quota, estimate, max_charge: most, currency } }: { quote: Quote }) {
  const { data: balance } = useTableQuery(queryTable.balance.now());
  const left = balance?.quotas[quota.kind] ?? 0;
  if (left > 0 && left >= quota.units) return `Uses your ${quota.kind} quota`;
  if (estimate.charge === most) return `Costs ${formatMoney(most, currency)}`;
  return `Costs about ${formatMoney(estimate.charge, currency)}, at most ${formatMoney(most, currency)}`;
}

/** Without a connection or a working server, the page says so elsewhere. */
export function QuoteFailure({ error }: { error: Error }) {
  const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
  return isRefused ? <InlineCodeText text={error.message} /> : "The price cannot be shown right now.";
}
