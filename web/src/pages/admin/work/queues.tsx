import { useTableQuery } from "../../../api/use-table-query.ts";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { formatCount } from "../../../parts/format/format-money.ts";
import { formatSince } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { AdminLink } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { Queue } from "../fetch-admin.ts";

/** Tasks at each upstream and before it, beside its limits. */
export function Queues() {
  const { data, error, refetch } = useTableQuery(adminQueries.adminWork.queues());
  return (
    <DataTable
      label="Queues"
      columns={columns}
      rows={data?.data}
      error={error}
      onRetry={() => void refetch()}
      keyOf={({ provider }) => provider}
      expectedRows={3}
      empty={<EmptyState title="No tasks at upstreams.">Upstreams with tasks or with limits appear here.</EmptyState>}
    />
  );
}

const writeLimit = (most: number | null): string => (most === null ? "None" : formatCount(most));

const columns: Column<Queue>[] = [
  {
    name: "Upstream",
    hasNames: true,
    cell: ({ provider }) => (
      <AdminLink to="work" search={{ provider }} className={linkClasses}>
        {provider}
      </AdminLink>
    ),
  },
  { name: "At work", align: "right", cell: ({ at_work: count }) => formatCount(count) },
  {
    name: "Waiting",
    align: "right",
    cell: ({ waiting, waiting_since: since }) => (
      <>
        {formatCount(waiting)}
        {since !== null && <span className="block text-xs text-ink-soft">oldest {formatSince(since, new Date())}</span>}
      </>
    ),
  },
  {
    name: "Limit",
    align: "right",
    isSecondary: true,
    cell: ({ tasks_max: most, limits_per: per }) => (
      <>
        {writeLimit(most)}
        {per === "key" && most !== null && <span className="block text-xs text-ink-soft">per key</span>}
      </>
    ),
  },
  { name: "Per minute", align: "right", isSecondary: true, cell: ({ tasks_per_minute: rate }) => writeLimit(rate) },
];
