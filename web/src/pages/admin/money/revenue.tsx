import { useTableQuery } from "../../../api/use-table-query.ts";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoney, formatRoughMoney } from "../../../parts/format/format-money.ts";
import { formatDate } from "../../../parts/format/format-time.ts";
import { MoneyCell } from "../../../parts/format/money-cell.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { RevenueRow } from "../fetch-admin.ts";

/** Revenue recognised against credit sold. */
export function Revenue() {
  const { search, change } = useAdminPlace();
  const by = search.by === "month" ? "month" : "day";
  const { data, error, refetch } = useTableQuery(adminQueries.adminMoney.revenue(by));
  return (
    <>
      <search className="flex flex-wrap gap-3">
        <SelectField
          isCompact
          label="Period"
          options={[
            { value: "day", label: "By day" },
            { value: "month", label: "By month" },
          ]}
          value={by}
          onChange={(word) => change({ by: word })}
        />
      </search>
      <DataTable
        label="Revenue"
        columns={listColumns(data?.currency ?? "USD", data?.time_zone ?? "UTC")}
        rows={data?.data}
        error={error}
        onRetry={() => void refetch()}
        keyOf={({ from }) => from}
        expectedRows={10}
        empty={<p className="text-sm text-ink-soft">Nothing yet.</p>}
      />
      <p className="text-sm text-ink-soft">
        Customers' credit is what they had at the end: sold, given, refunded and corrected, less revenue, reversed and
        expired.
      </p>
    </>
  );
}

type AmountName = "sold" | "given" | "revenue" | "refunded" | "reversed" | "expired" | "liability";

function listColumns(currency: string, timeZone: string): Column<RevenueRow>[] {
  const amount = (name: AmountName, label: string, isSecondary = true): Column<RevenueRow> => ({
    name: label,
    align: "right",
    isSecondary,
    cell: ({ [name]: figure }) => (
      <MoneyCell figure={formatRoughMoney(figure, currency)} exact={formatMoney(figure, currency)} />
    ),
  });
  return [
    {
      name: "From",
      cell: ({ from, to }) => (
        <AdminLink to="money" search={{ view: "entries", from, to }} className={`whitespace-nowrap ${linkClasses}`}>
          {formatDate(from, timeZone)}
        </AdminLink>
      ),
    },
    amount("sold", "Credit sold", false),
    amount("given", "Given away"),
    amount("revenue", "Revenue", false),
    amount("refunded", "Refunded"),
    amount("reversed", "Reversed"),
    amount("expired", "Expired"),
    amount("liability", "Customers' credit", false),
  ];
}
