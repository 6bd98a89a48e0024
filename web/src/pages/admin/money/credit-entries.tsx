import { usePageQuery } from "../../../api/use-page-query.ts";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatAmount } from "../../../parts/format/format-amount.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { CreditEntry } from "../fetch-admin.ts";
import { readPeriod } from "../moment-filter.ts";
import { PeriodNote } from "../period-note.tsx";
import { useCurrency } from "../use-currency.ts";

const kindNames: Readonly<Record<CreditEntry["kind"], string>> = {
  top_up: "Credit sold",
  grant: "Credit given",
  refund: "Charge refunded",
  reversal: "Payment reversed",
  expiry: "Credit expired",
  adjustment: "Correction",
};

/** How credit of all accounts came and went, charges apart. */
export function CreditEntries() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const currency = useCurrency() ?? "";
  const kind = Object.keys(kindNames).find((known) => known === search.kind) as CreditEntry["kind"] | undefined;
  const filter = {
    ...readPeriod(search),
    ...(kind === undefined ? {} : { kind }),
    ...(search.account === undefined ? {} : { account_id: search.account }),
  };
  const { rows, more, ...entries } = usePageQuery(adminQueries.adminMoney.entries(filter));
  return (
    <>
      <search className="flex flex-wrap gap-3">
        <SelectField
          isCompact
          label="Kind"
          options={[
            { value: "", label: "All kinds" },
            ...Object.entries(kindNames).map(([value, label]) => ({ value, label })),
          ]}
          value={kind ?? ""}
          onChange={(word) => change({ kind: word })}
        />
      </search>
      <PeriodNote />
      <DataTable
        label="Credit entries"
        columns={listColumns(timeZone, currency)}
        rows={currency === "" ? undefined : rows}
        {...entries}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No entries.">Payments, gifts, refunds and corrections appear here.</EmptyState>}
      />
      <LoadMore {...more} />
    </>
  );
}

function listColumns(timeZone: string, currency: string): Column<CreditEntry>[] {
  return [
    {
      name: "Time",
      isSecondary: true,
      cell: ({ created_at: createdAt }) => <span className="text-ink-soft">{formatMoment(createdAt, timeZone)}</span>,
    },
    {
      name: "Account",
      hasNames: true,
      cell: (row) => (
        <>
          <AccountCell id={row.account_id} email={row.email} />
          <span className="block text-xs text-ink-soft sm:hidden">{formatMoment(row.created_at, timeZone)}</span>
        </>
      ),
    },
    {
      name: "Kind",
      hasNames: true,
      cell: ({ kind, channel, cause }) => (
        <>
          {kindNames[kind]}
          {cause.id.startsWith("chk_") ? (
            <AdminLink to={`payments/${cause.id}`} className={`block text-xs ${linkClasses}`}>
              {channel ?? "payment"}
            </AdminLink>
          ) : (
            channel !== null && <span className="block text-xs text-ink-soft">{channel}</span>
          )}
        </>
      ),
    },
    { name: "Amount", align: "right", cell: ({ unit, amount }) => formatAmount({ unit, amount, currency }) },
  ];
}
