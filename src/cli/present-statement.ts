import { createStatementCsv, presentAmount, type StatementEntry } from "../features/ledger/index.ts";
import { isHungUp, listChargedItems, listMarks } from "../lib/bill.ts";
import { presentMoney } from "../lib/money.ts";
import { presentRows } from "./present-rows.ts";

export function presentStatementText(entries: readonly StatementEntry[], currency: string): string {
  const present = (unit: StatementEntry["unit"], amount: bigint): string =>
    unit === "money" ? `${presentAmount(unit, amount)} ${currency}` : presentAmount(unit, amount);
  const rows = entries.map((entry) => [
    entry.createdAt.toISOString(),
    entry.kind,
    entry.unit,
    present(entry.unit, entry.amount),
    present(entry.unit, entry.balance),
    entry.bucket === null ? "-" : `${entry.bucket.kind} ${present(entry.unit, entry.bucket.balance)}`,
    `${entry.cause.kind} ${entry.cause.id}`,
    describeDetail(entry, currency),
  ]);
  return presentRows(["TIME", "KIND", "UNIT", "AMOUNT", "BALANCE", "BUCKET", "CAUSE", "DETAIL"], rows);
}

function describeDetail({ operator, bill }: StatementEntry, currency: string): string {
  if (operator !== null) return `${operator.actor}: ${operator.reason}`;
  if (bill === null) return "";
  const items = listChargedItems(bill).map(
    ({ name, quantity, rate }) => `${quantity} ${name} at ${presentMoney(rate)} ${currency}`,
  );
  const minimum = bill.minimum > 0n ? `, at least ${presentMoney(bill.minimum)} ${currency}` : "";
  const marks = Object.entries(listMarks(bill)).map(([name, value]) => `, ${name} ${value}`);
  const hungUp = isHungUp(bill) ? ", hung up" : "";
  return `${items.join(" + ")} per ${bill.per}${minimum}${marks.join("")}${hungUp} (${bill.priceId})`;
}

export function presentStatementCsv(entries: readonly StatementEntry[]): string {
  const { heading, presentLine } = createStatementCsv("operator");
  // The caller prints the last line break.
  return [heading, ...entries.map(presentLine)].join("").trimEnd();
}

export function presentEntryJson({ unit, bucket, bill, ...entry }: StatementEntry): Record<string, unknown> {
  return {
    number: String(entry.number),
    id: entry.transactionId,
    created_at: entry.createdAt.toISOString(),
    kind: entry.kind,
    unit,
    amount: presentAmount(unit, entry.amount),
    balance: presentAmount(unit, entry.balance),
    bucket:
      bucket === null
        ? null
        : {
            id: bucket.id,
            kind: bucket.kind,
            expires_at: bucket.expiresAt?.toISOString() ?? null,
            balance: presentAmount(unit, bucket.balance),
          },
    cause: entry.cause,
    operator: entry.operator,
    bill:
      bill === null
        ? null
        : {
            price_id: bill.priceId,
            items: bill.items.map(({ name, quantity, rate }) => ({
              name,
              quantity: String(quantity),
              rate: presentMoney(rate),
            })),
            per: String(bill.per),
            minimum: presentMoney(bill.minimum),
            quota_units: String(bill.quotaUnits),
            cost: presentAmount(unit, bill.cost),
            paid: presentAmount(unit, bill.paid),
            lost: presentAmount(unit, bill.lost),
          },
  };
}
