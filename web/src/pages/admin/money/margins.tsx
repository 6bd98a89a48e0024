import { useTableQuery } from "../../../api/use-table-query.ts";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatCount, formatMoney } from "../../../parts/format/format-money.ts";
import { AccountCell } from "../account-cell.tsx";
import { useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { MarginLine } from "../fetch-admin.ts";
import { readPeriod } from "../moment-filter.ts";
import { PeriodNote } from "../period-note.tsx";

const groups = [
  { value: "model", label: "By model" },
  { value: "account", label: "By account" },
  { value: "route", label: "By route" },
] as const;

/** Revenue, cost and margin of a period; of the last day without one. */
export function Margins() {
  const { search, change } = useAdminPlace();
  const by = groups.find(({ value }) => value === search.by)?.value ?? "model";
  const { data, error, refetch } = useTableQuery(adminQueries.adminMoney.margins({ by, ...readPeriod(search) }));
  return (
    <>
      <search className="flex flex-wrap gap-3">
        <SelectField isCompact label="Group" options={groups} value={by} onChange={(word) => change({ by: word })} />
      </search>
      {search.from === undefined ? <p className="text-sm text-ink-soft">The last 24 hours.</p> : <PeriodNote />}
      <DataTable
        label="Margins"
        columns={listColumns(data?.currency ?? "USD", by)}
        rows={data?.data}
        error={error}
        onRetry={() => void refetch()}
        keyOf={({ subject }) => subject ?? ""}
        empty={<EmptyState title="No charged calls.">Nothing was charged in this period.</EmptyState>}
      />
    </>
  );
}

function listColumns(currency: string, by: string): Column<MarginLine>[] {
  return [
    {
      name: by === "account" ? "Account" : by === "route" ? "Route" : "Model",
      hasNames: true,
      cell: ({ subject, email }) =>
        subject === null ? "Unknown" : by === "account" ? <AccountCell id={subject} email={email} /> : subject,
    },
    { name: "Calls", align: "right", isSecondary: true, cell: ({ calls }) => formatCount(calls) },
    { name: "Revenue", align: "right", cell: ({ revenue }) => formatMoney(revenue, currency) },
    { name: "Cost", align: "right", isSecondary: true, cell: ({ cost }) => formatMoney(cost, currency) },
    { name: "Margin", align: "right", cell: ({ margin }) => formatMoney(margin, currency) },
  ];
}
