import { sql } from "kysely";
import { type Bill, computeCharge } from "../../lib/bill.ts";
import type { AccountId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Cause, Pocket, PostingKind, Unit } from "./ledger-state.ts";

/** A line of an account's statement: what moved, why, and what there was afterwards. */
export type StatementEntry = {
  number: bigint;
  transactionId: string;
  createdAt: Date;
  kind: PostingKind;
  unit: Unit;
  /** What the account gained or lost by it; a loss of the house is none of the account's. */
  amount: bigint;
  /** Everything of this unit together, afterwards. */
  balance: bigint;
  pocket: { id: string; kind: Pocket["kind"]; expiresAt: Date | null; balance: bigint } | null;
  cause: Cause;
  /** Who did it and why, where a person did. */
  operator: { actor: string; reason: string } | null;
  /** What a charge or loss was for, with the price as it was. */
  bill: (Bill & { cost: bigint; paid: bigint; lost: bigint }) | null;
};

export type StatementRange = { from: Date | null; to: Date | null; limit: number };

/** The newest entries of a time, oldest first. Balances count everything before, too. */
export async function listStatement(
  database: Database,
  accountId: AccountId,
  { from, to, limit }: StatementRange,
): Promise<StatementEntry[]> {
  const { rows } = await sql<StatementRow>`
    with entries as (
      select *, case when pocket_id is null then 0 when credit = pocket_id then amount else -amount end as change
        from postings where account_id = ${accountId}),
      totals as (
        select *, sum(change) over (partition by unit order by number) as balance from entries)
    select entry.number, entry.id, entry.created_at, entry.kind, entry.unit, entry.amount, entry.change,
        entry.balance::bigint as balance, entry.pocket_id, pocket.kind as pocket_kind,
        pocket.expires_at as pocket_expires_at, entry.balance_after, entry.cause_kind, entry.cause_id,
        action.actor, action.reason, charge.price_id, charge.item_names, charge.item_quantities, charge.item_rates_nano,
        charge.rates_per, charge.minimum_nano, charge.quota_units, charge.paid, charge.lost
      from totals entry
        left join pockets pocket on pocket.id = entry.pocket_id
        left join operator_actions action on entry.cause_kind = 'operator' and action.id = entry.cause_id
        left join charges charge on entry.kind in ('charge', 'loss') and charge.id = entry.id
      where (${from}::timestamptz is null or entry.created_at >= ${from})
        and (${to}::timestamptz is null or entry.created_at < ${to})
      order by entry.number desc limit ${limit}`.execute(database);
  return rows.toReversed().map(toEntry);
}

type StatementRow = {
  number: bigint;
  id: string;
  created_at: Date;
  kind: PostingKind;
  unit: Unit;
  amount: bigint;
  change: bigint;
  balance: bigint;
  pocket_id: string | null;
  pocket_kind: Pocket["kind"] | null;
  pocket_expires_at: Date | null;
  balance_after: bigint | null;
  cause_kind: Cause["kind"];
  cause_id: string;
  actor: string | null;
  reason: string | null;
  price_id: string | null;
  item_names: string[] | null;
  item_quantities: bigint[] | null;
  item_rates_nano: bigint[] | null;
  rates_per: bigint | null;
  minimum_nano: bigint | null;
  quota_units: bigint | null;
  paid: bigint | null;
  lost: bigint | null;
};

function toEntry(row: StatementRow): StatementEntry {
  return {
    number: row.number,
    transactionId: row.id,
    createdAt: row.created_at,
    kind: row.kind,
    unit: row.unit,
    amount: row.kind === "loss" ? row.amount : row.change,
    balance: row.balance,
    pocket:
      row.pocket_id === null || row.pocket_kind === null || row.balance_after === null
        ? null
        : { id: row.pocket_id, kind: row.pocket_kind, expiresAt: row.pocket_expires_at, balance: row.balance_after },
    cause: { kind: row.cause_kind, id: row.cause_id },
    operator: row.actor === null || row.reason === null ? null : { actor: row.actor, reason: row.reason },
    bill: toBill(row),
  };
}

function toBill(row: StatementRow): StatementEntry["bill"] {
  if (row.price_id === null) return null;
  const bill: Bill = {
    priceId: row.price_id,
    items: (row.item_names ?? []).map((name, index) => ({
      name,
      quantity: row.item_quantities?.[index] ?? 0n,
      rate: nano(row.item_rates_nano?.[index] ?? 0n),
    })),
    per: row.rates_per ?? 1n,
    minimum: nano(row.minimum_nano ?? 0n),
    quotaUnits: row.quota_units ?? 0n,
  };
  const cost = row.unit === "money" ? computeCharge(bill) : bill.quotaUnits;
  return { ...bill, cost, paid: row.paid ?? 0n, lost: row.lost ?? 0n };
}
