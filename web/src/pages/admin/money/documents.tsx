import { usePageQuery } from "../../../api/use-page-query.ts";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoney } from "../../../parts/format/format-money.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { DocumentFilter, ListedDocument } from "../fetch-admin.ts";
import { readPeriod } from "../moment-filter.ts";
import { PeriodNote } from "../period-note.tsx";
import { SearchField } from "../search-field.tsx";

const kindNames: Readonly<Record<ListedDocument["kind"], string>> = {
  invoice: "Invoice",
  credit_note: "Credit note",
  statement: "Statement",
};

/** Invoices, credit notes and statements of all accounts. */
export function Documents() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const kind = Object.keys(kindNames).find((known) => known === search.kind) as ListedDocument["kind"] | undefined;
  const { number, account } = search;
  const filter: DocumentFilter = {
    ...readPeriod(search),
    ...(kind === undefined ? {} : { kind }),
    ...(number === undefined ? {} : { number }),
    ...(account === undefined ? {} : { account_id: account }),
  };
  const isFiltered = Object.keys(filter).length > 0;
  const { rows, more, ...documents } = usePageQuery(adminQueries.adminMoney.documents(filter));
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
        <SearchField isShort label="Number" value={number ?? ""} onChange={(word) => change({ number: word })} />
        <SearchField isShort label="Account ID" value={account ?? ""} onChange={(word) => change({ account: word })} />
      </search>
      <PeriodNote />
      <DataTable
        label="Invoices, credit notes and statements"
        columns={listColumns(timeZone)}
        rows={rows}
        {...documents}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <EmptyState title="No such documents.">Change the filters to see others.</EmptyState>
          ) : (
            <EmptyState title="No documents.">
              Each payment gets an invoice once invoice terms are applied. The guide is docs/operating/invoices.md.
            </EmptyState>
          )
        }
      />
      <LoadMore {...more} />
    </>
  );
}

function listColumns(timeZone: string): Column<ListedDocument>[] {
  return [
    {
      name: "Number",
      hasNames: true,
      cell: ({ id, number, kind, month }) => (
        <>
          <a href={`/admin/v1/documents/${id}/pdf`} download={`${number}.pdf`} className={linkClasses}>
            {number}
            <span className="sr-only"> as PDF</span>
          </a>
          <span className="block text-xs text-ink-soft">
            {kindNames[kind]}
            {month !== null && ` ${month}`}
          </span>
        </>
      ),
    },
    {
      name: "Issued",
      isSecondary: true,
      cell: ({ issued_at: issuedAt }) => <span className="text-ink-soft">{formatMoment(issuedAt, timeZone)}</span>,
    },
    { name: "Account", hasNames: true, cell: (row) => <AccountCell id={row.account_id} email={row.email} /> },
    {
      name: "Payment",
      isSecondary: true,
      cell: ({ channel, payment_id: paymentId }) =>
        paymentId?.startsWith("chk_") === true ? (
          <AdminLink to={`payments/${paymentId}`} className={linkClasses}>
            {channel ?? "payment"}
          </AdminLink>
        ) : (
          <span className="text-ink-soft">{channel ?? "–"}</span>
        ),
    },
    {
      name: "Tax",
      align: "right",
      isSecondary: true,
      cell: ({ tax, currency }) => (tax === null ? "–" : formatMoney(tax, currency)),
    },
    { name: "Total", align: "right", cell: ({ total, currency }) => formatMoney(total, currency) },
  ];
}
