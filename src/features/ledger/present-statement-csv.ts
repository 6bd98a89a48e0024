import { presentCsvLine } from "../../lib/csv.ts";
import { nano, presentMoney } from "../../lib/money.ts";
import type { Unit } from "./ledger-state.ts";
import type { StatementEntry } from "./statement-store.ts";

/** Amounts of money as money, units of a quota as whole numbers. */
export function presentAmount(unit: Unit, amount: bigint): string {
  return unit === "money" ? presentMoney(nano(amount)) : String(amount);
}

type Column = readonly [name: string, present: (entry: StatementEntry) => string];

/** What everybody's statement says, in these words. */
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

/** Who of the house did something, and the note they made, is for the house; so is how many entries it has in all. */
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

/** A statement as CSV: the names of the columns, then a line for each entry. */
export function createStatementCsv(reader: keyof typeof columnsByReader) {
  const columns: readonly Column[] = columnsByReader[reader];
  return {
    heading: presentCsvLine(columns.map(([name]) => name)),
    presentLine: (entry: StatementEntry): string => presentCsvLine(columns.map(([, present]) => present(entry))),
  };
}
