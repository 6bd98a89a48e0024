import type { StatementEntry } from "../features/ledger/index.ts";
import { nano, presentMoney } from "../lib/money.ts";
import { presentRows } from "./present-rows.ts";

/** Amounts of money as money, units of a quota as whole numbers. */
function presentAmount(unit: StatementEntry["unit"], amount: bigint): string {
  return unit === "money" ? presentMoney(nano(amount)) : String(amount);
}

export function presentStatementText(entries: readonly StatementEntry[]): string {
  const rows = entries.map((entry) => [
    entry.createdAt.toISOString(),
    entry.kind,
    entry.unit,
    presentAmount(entry.unit, entry.amount),
    presentAmount(entry.unit, entry.balance),
    entry.pocket === null ? "-" : `${entry.pocket.kind} ${presentAmount(entry.unit, entry.pocket.balance)}`,
    `${entry.cause.kind} ${entry.cause.id}`,
    describeDetail(entry),
  ]);
  return presentRows(["TIME", "KIND", "UNIT", "AMOUNT", "BALANCE", "POCKET", "CAUSE", "DETAIL"], rows);
}

function describeDetail({ operator, bill }: StatementEntry): string {
  if (operator !== null) return `${operator.actor}: ${operator.reason}`;
  if (bill === null) return "";
  const items = bill.items.map(({ name, quantity, rate }) => `${quantity} ${name} at ${presentMoney(rate)}`);
  const minimum = bill.minimum > 0n ? `, at least ${presentMoney(bill.minimum)}` : "";
  return `${items.join(" + ")} per ${bill.per}${minimum} (${bill.priceId})`;
}

const csvColumns = [
  "number",
  "id",
  "time",
  "kind",
  "unit",
  "amount",
  "balance",
  "pocket",
  "pocket_kind",
  "pocket_balance",
  "cause_kind",
  "cause_id",
  "actor",
  "reason",
  "price_id",
  "items",
  "per",
  "minimum",
] as const;

export function presentStatementCsv(entries: readonly StatementEntry[]): string {
  return [csvColumns.join(","), ...entries.map((entry) => presentCsvFields(entry).map(presentCsvField).join(","))].join(
    "\r\n",
  );
}

function presentCsvFields({ unit, pocket, cause, operator, bill, ...entry }: StatementEntry): string[] {
  return [
    String(entry.number),
    entry.transactionId,
    entry.createdAt.toISOString(),
    entry.kind,
    unit,
    presentAmount(unit, entry.amount),
    presentAmount(unit, entry.balance),
    pocket?.id ?? "",
    pocket?.kind ?? "",
    pocket === null ? "" : presentAmount(unit, pocket.balance),
    cause.kind,
    cause.id,
    operator?.actor ?? "",
    operator?.reason ?? "",
    bill?.priceId ?? "",
    bill?.items.map(({ name, quantity, rate }) => `${name}:${quantity}@${presentMoney(rate)}`).join(" ") ?? "",
    bill === null ? "" : String(bill.per),
    bill === null ? "" : presentMoney(bill.minimum),
  ];
}

/** RFC 4180; what a spreadsheet would take for a formula is marked as text. */
function presentCsvField(field: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(field);
  const safe = !isNumber && /^[=+\-@\t\r]/.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function presentEntryJson({ unit, pocket, bill, ...entry }: StatementEntry): Record<string, unknown> {
  return {
    number: String(entry.number),
    id: entry.transactionId,
    created_at: entry.createdAt.toISOString(),
    kind: entry.kind,
    unit,
    amount: presentAmount(unit, entry.amount),
    balance: presentAmount(unit, entry.balance),
    pocket:
      pocket === null
        ? null
        : {
            id: pocket.id,
            kind: pocket.kind,
            expires_at: pocket.expiresAt?.toISOString() ?? null,
            balance: presentAmount(unit, pocket.balance),
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
