import type { Checkout } from "../../api/ask-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { Badge, type BadgeKind } from "../../design/badge.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Section } from "../../design/section.tsx";
import { linkClasses } from "../../parts/focus-page.tsx";
import { formatMoney } from "../../parts/format-money.ts";
import { formatMoment } from "../../parts/format-time.ts";

/** Payments by card, newest first. Where no cards are taken, only those of former times. */
export function PaymentList({ isOffered, timeZone }: { isOffered: boolean; timeZone: string }) {
  const { rows, more, ...payments } = usePageQuery(queryTable.checkouts.list());
  if (!isOffered && (rows === undefined || rows.length === 0)) return null;
  return (
    <Section title="Payments by card">
      <DataTable
        label="List of the payments"
        columns={listColumns(timeZone)}
        rows={rows}
        {...payments}
        keyOf={({ id }) => id}
        expectedRows={1}
        empty={
          <p className="text-sm text-ink-soft">There are none yet. Choose an amount above to make the first one.</p>
        }
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
  mismatched: { kind: "warning", name: "Being looked at" },
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

function listColumns(timeZone: string): Column<Checkout>[] {
  return [
    {
      name: "Begun",
      cell: ({ created }) => (
        <span className="tabular-nums">{formatMoment(new Date(created * 1000).toISOString(), timeZone)}</span>
      ),
    },
    {
      name: "State",
      cell: ({ state, url, reversals }) => (
        <span className="flex flex-wrap items-center gap-3">
          <Badge kind={looks[state].kind}>{state === "open" && url === null ? "On its way" : looks[state].name}</Badge>
          {listReversed(reversals).map(({ kind, name }) => (
            <Badge key={name} kind={kind}>
              {name}
            </Badge>
          ))}
          {url !== null && (
            <a href={url} className={linkClasses}>
              Go on paying
            </a>
          )}
        </span>
      ),
    },
    { name: "Amount", align: "right", cell: ({ amount, currency }) => formatMoney(amount, currency) },
  ];
}
