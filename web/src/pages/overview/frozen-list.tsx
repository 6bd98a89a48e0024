import { Link } from "@tanstack/react-router";
import type { Hold } from "../../api/ask-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatAmount } from "../../parts/format-amount.ts";
import { formatMoment, formatSince } from "../../parts/format-time.ts";
import { refreshMs } from "./refresh-interval.ts";

type FrozenListProps = { currency: string; timeZone: string };

/** Which calls and tasks money is set aside for, since when, and until when at the latest. */
export function FrozenList({ currency, timeZone }: FrozenListProps) {
  const holds = useTableQuery(queryTable.balance.holds(), { refreshMs });
  if (holds.error !== null && holds.data === undefined) {
    return <LoadFailure error={holds.error} onRetry={() => void holds.refetch()} />;
  }
  if (holds.data === undefined) return <Skeleton className="h-11" />;
  if (holds.data.data.length === 0) {
    return (
      <p className="border-y border-line py-2.5 text-sm text-ink-soft">
        Nothing is set aside. While a call or task runs, the most that it may cost is frozen; the rest comes back when
        it ends.
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label="What it is frozen for" className="divide-y divide-line border-y border-line text-sm">
        {holds.data.data.map((hold) => (
          <li key={hold.id} className="flex items-baseline justify-between gap-6 py-2.5">
            <HoldReason hold={hold} timeZone={timeZone} />
            <span className="whitespace-nowrap tabular-nums">{formatAmount({ ...hold, currency })}</span>
          </li>
        ))}
      </ul>
      {holds.data.has_more && <p className="text-xs text-ink-soft">These are the newest; there are more.</p>}
    </div>
  );
}

function HoldReason({ hold, timeZone }: { hold: Hold; timeZone: string }) {
  const opened = new Date(hold.opened * 1000).toISOString();
  const expires = new Date(hold.expires * 1000).toISOString();
  return (
    <div className="min-w-0">
      {hold.task_id === null ? (
        <span className="font-medium">A call</span>
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
        since {formatSince(opened, new Date())}, until {formatMoment(expires, timeZone)} at the latest
      </p>
    </div>
  );
}
