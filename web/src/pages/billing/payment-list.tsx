import type { Checkout } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { Badge, type BadgeKind } from "../../design/badge.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Section } from "../../design/section.tsx";
import { countDecimals } from "../../parts/format/align-figures.ts";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";

/** Also shows past payments after card payments were disabled. */
export function PaymentList({ isOffered, timeZone }: { isOffered: boolean; timeZone: string }) {
  const { rows, more, ...payments } = usePageQuery(queryTable.checkouts.list());
  if (!isOffered && (rows === undefined || rows.length === 0)) return null;
  return (
    <Section title="Payments">
      <DataTable
        label="List of payments"
        columns={listColumns(rows ?? [], timeZone)}
        rows={rows}
        {...payments}
        keyOf={({ id }) => id}
        expectedRows={1}
        empty={<p className="text-sm text-ink-soft">No payments yet.</p>}
      />
      <LoadMore {...more} />
    </Section>
  );
}

const looks: Record<Checkout["state"], { kind: BadgeKind; name: string }> = {
  open: { kind: "busy", name: "Open" },
  paid: { kind: "good", name: "Paid" },
  expired: { kind: "neutral", name: "Not paid" },
  failed: { kind: "bad", name: "Failed" },
  mismatched: { kind: "warning", name: "Under review" },
};

const reversedLooks: Record<Checkout["reversals"][number]["kind"], { kind: BadgeKind; name: string }> = {
  refund: { kind: "neutral", name: "Refunded" },
  dispute: { kind: "bad", name: "Disputed" },
};

/** Each kind once, however many refunds there were. */
function listReversed(reversals: Checkout["reversals"]) {
  const kinds = new Set(reversals.filter(({ in_effect: isInEffect }) => isInEffect).map(({ kind }) => kind));
  return [...kinds].map((kind) => reversedLooks[kind]);
}

function listColumns(rows: readonly Checkout[], timeZone: string): Column<Checkout>[] {
  const decimals = countDecimals(rows.map(({ amount, currency }) => formatMoney(amount, currency)));
  return [
    {
      name: "Created",
      cell: ({ created }) => (
        <span className="tabular-nums">{formatMoment(new Date(created * 1000).toISOString(), timeZone)}</span>
      ),
    },
    {
      name: "Status",
      cell: ({ state, url, reversals, is_automatic: isAutomatic }) => (
        <span className="flex flex-wrap items-center gap-3">
          <Badge kind={looks[state].kind}>{state === "open" && url === null ? "Processing" : looks[state].name}</Badge>
          {isAutomatic && <Badge kind="neutral">Automatic</Badge>}
          {listReversed(reversals).map(({ kind, name }) => (
            <Badge key={name} kind={kind}>
              {name}
            </Badge>
          ))}
          {url !== null && (
            <a href={url} className={linkClasses}>
              Continue payment
            </a>
          )}
        </span>
      ),
    },
    {
      name: "Amount",
      align: "right",
      cell: ({ amount, currency }) => <MoneyCell figure={formatMoney(amount, currency)} decimals={decimals} />,
    },
  ];
}
