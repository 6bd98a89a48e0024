import { Link } from "@tanstack/react-router";
import type { Hold } from "../../api/ask-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatAmount } from "../../parts/format/format-amount.ts";
import { formatMoment, formatSince } from "../../parts/format/format-time.ts";
import { refreshMs } from "./refresh-interval.ts";

type HoldListProps = { currency: string; timeZone: string };

export function HoldList({ currency, timeZone }: HoldListProps) {
  const holds = useTableQuery(queryTable.balance.holds(), { refreshMs });
  if (holds.error !== null && holds.data === undefined) {
    return <LoadFailure error={holds.error} onRetry={() => void holds.refetch()} />;
  }
  if (holds.data === undefined) return <Skeleton className="h-11" />;
  if (holds.data.data.length === 0) {
    return (
      <p className="border-y border-line py-2.5 text-sm text-ink-soft">
        Nothing is on hold. While a call or task runs, its maximum cost is on hold; the rest is released when it ends.
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label="Holds" className="divide-y divide-line border-y border-line text-sm">
        {holds.data.data.map((hold) => (
          <li key={hold.id} className="flex items-baseline justify-between gap-6 py-2.5">
            <HoldReason hold={hold} timeZone={timeZone} />
            <span className="whitespace-nowrap tabular-nums">{formatAmount({ ...hold, currency })}</span>
          </li>
        ))}
      </ul>
      {holds.data.has_more && <p className="text-xs text-ink-soft">Only the newest holds are shown.</p>}
    </div>
  );
}

function HoldReason({ hold, timeZone }: { hold: Hold; timeZone: string }) {
  const opened = new Date(hold.opened * 1000).toISOString();
  const expires = new Date(hold.expires * 1000).toISOString();
  return (
    <div className="min-w-0">
      {hold.task_id === null ? (
        <span className="font-medium">Call</span>
      ) : (
        <Link
          to="/console/tasks/$id"
          params={{ id: hold.task_id }}
          className="font-medium hover:text-accent hover:underline"
        >
          Task of {hold.model ?? hold.task_id}
        </Link>
      )}
      <p className="text-xs text-ink-soft">
        opened {formatSince(opened, new Date())}, expires {formatMoment(expires, timeZone)}
      </p>
    </div>
  );
}
