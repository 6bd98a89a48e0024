import { presentCsvLine } from "../../lib/csv.ts";
import { nano, presentMoney } from "../../lib/money.ts";
import type { Unit } from "./ledger-state.ts";
import type { StatementEntry } from "./statement-store.ts";

/** A decimal for money, a whole number for a quota. */
export function presentAmount(unit: Unit, amount: bigint): string {
  return unit === "money" ? presentMoney(nano(amount)) : String(amount);
}

type Column = readonly [name: string, present: (entry: StatementEntry) => string];

/** Columns of every statement. */
const movementColumns: readonly Column[] = [
  ["id", ({ transactionId }) => transactionId],
  ["time", ({ createdAt }) => createdAt.toISOString()],
  ["kind", ({ kind }) => kind],
  ["unit", ({ unit }) => unit],
  ["amount", ({ unit, amount }) => presentAmount(unit, amount)],
  ["balance", ({ unit, balance }) => presentAmount(unit, balance)],
  ["bucket", ({ bucket }) => bucket?.id ?? ""],
  ["bucket_kind", ({ bucket }) => bucket?.kind ?? ""],
  ["bucket_balance", ({ unit, bucket }) => (bucket === null ? "" : presentAmount(unit, bucket.balance))],
  ["cause_kind", ({ cause }) => cause.kind],
  ["cause_id", ({ cause }) => cause.id],
];

const billColumns: readonly Column[] = [
  ["price_id", ({ bill }) => bill?.priceId ?? ""],
  [
    "items",
    ({ bill }) =>
      bill?.items.map(({ name, quantity, rate }) => `${name}:${quantity}@${presentMoney(rate)}`).join(" ") ?? "",
  ],
  ["per", ({ bill }) => (bill === null ? "" : String(bill.per))],
  ["minimum", ({ bill }) => (bill === null ? "" : presentMoney(bill.minimum))],
];

/** Customers don't see the operator's name and note, nor the global entry number, which would reveal the total volume. */
const columnsByReader = {
  operator: [
    ["number", ({ number }) => String(number)],
    ...movementColumns,
    ["actor", ({ operator }) => operator?.actor ?? ""],
    ["reason", ({ operator }) => operator?.reason ?? ""],
    ...billColumns,
  ],
  customer: [...movementColumns, ...billColumns],
} as const satisfies Record<string, readonly Column[]>;

export function createStatementCsv(reader: keyof typeof columnsByReader) {
  const columns: readonly Column[] = columnsByReader[reader];
  return {
    heading: presentCsvLine(columns.map(([name]) => name)),
    presentLine: (entry: StatementEntry): string => presentCsvLine(columns.map(([, present]) => present(entry))),
  };
}
