import type { BillingDocument } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Section } from "../../design/section.tsx";
import { countDecimals } from "../../parts/format/align-figures.ts";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatDate } from "../../parts/format/format-time.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";

/** Invoices, credit notes and monthly statements, newest first. */
export function DocumentList() {
  const { rows, more, ...documents } = usePageQuery(queryTable.documents.list());
  return (
    <Section title="Documents" intro="An invoice for each payment, and a statement for each month.">
      <DataTable
        label="List of documents"
        columns={listColumns(rows ?? [])}
        rows={rows}
        {...documents}
        keyOf={({ id }) => id}
        expectedRows={2}
        empty={<EmptyState title="No documents yet.">Your first payment has the first invoice.</EmptyState>}
      />
      <LoadMore {...more} />
    </Section>
  );
}

const names: Record<BillingDocument["kind"], string> = {
  invoice: "Invoice",
  credit_note: "Credit note",
  statement: "Statement",
};

function describe({ kind, month, corrects }: BillingDocument): string {
  if (kind === "invoice" && corrects !== null) return "Invoice, takes a credit note back";
  return month === null ? names[kind] : `${names[kind]} for ${month}`;
}

/** Documents are dated in UTC, as on paper. */
function listColumns(rows: readonly BillingDocument[]): Column<BillingDocument>[] {
  const decimals = countDecimals(rows.map(({ total, currency }) => formatMoney(total, currency)));
  return [
    {
      name: "Document",
      cell: (document) => (
        <div className="flex flex-col gap-0.5">
          <span className="font-medium">{describe(document)}</span>
          <span className="text-xs text-ink-soft sm:hidden">{presentDay(document)}</span>
        </div>
      ),
    },
    {
      name: "Issued",
      isSecondary: true,
      cell: (document) => <span className="whitespace-nowrap text-ink-soft tabular-nums">{presentDay(document)}</span>,
    },
    {
      name: "PDF",
      cell: ({ id, number }) => (
        <a
          href={`/console/api/documents/${id}/pdf`}
          download={`${number}.pdf`}
          aria-label={`Download ${number} as PDF`}
          className={linkClasses}
        >
          {number}
        </a>
      ),
    },
    {
      name: "Amount",
      align: "right",
      cell: ({ total, currency }) => <MoneyCell figure={formatMoney(total, currency)} decimals={decimals} />,
    },
  ];
}

function presentDay({ issued }: BillingDocument): string {
  return formatDate(new Date(issued * 1000).toISOString(), "UTC");
}
