import { usePageQuery } from "../../../api/use-page-query.ts";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import { useCurrency } from "../use-currency.ts";
import { ReversalTable } from "./reversal-table.tsx";

/** Refunds and disputes of all payments. */
export function Reversals() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const currency = useCurrency();
  const kind = search.kind === "refund" || search.kind === "dispute" ? search.kind : undefined;
  const { rows, more, ...reversals } = usePageQuery(adminQueries.adminMoney.reversals(kind));
  if (currency === null) return <Skeleton className="h-64" />;
  return (
    <>
      <search className="flex flex-wrap gap-3">
        <SelectField
          isCompact
          label="Kind"
          options={[
            { value: "", label: "Refunds and disputes" },
            { value: "refund", label: "Refunds" },
            { value: "dispute", label: "Disputes" },
          ]}
          value={kind ?? ""}
          onChange={(word) => change({ kind: word })}
        />
      </search>
      <ReversalTable
        rows={rows}
        currency={currency}
        {...reversals}
        columns={[
          {
            name: "Time",
            cell: (row) => (
              <AdminLink to={`payments/${row.payment_id}`} className={linkClasses}>
                {formatMoment(row.created_at, timeZone)}
              </AdminLink>
            ),
          },
          { name: "Account", hasNames: true, cell: (row) => <AccountCell id={row.account_id} email={row.email} /> },
        ]}
        empty={
          <EmptyState title="No refunds or disputes.">They appear here when the provider reports them.</EmptyState>
        }
      />
      <LoadMore {...more} />
    </>
  );
}
