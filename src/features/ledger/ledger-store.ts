import { CompiledQuery, sql } from "kysely";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { presentTexts } from "../../platform/database/row-arrays.ts";
import type { Session, Statement, StatementValue } from "../../platform/database/session.ts";
import type { EndedClaim } from "../idempotency/index.ts";
import type { Changes } from "./draft.ts";
import { type LedgerState, nameSpending, type Unit } from "./ledger-state.ts";
import type { Needs } from "./list-needs.ts";
import { type LoadedRow, type Others, type OthersRow, toOthers, toState } from "./loaded-rows.ts";
import type { IdleReserve } from "./reserves.ts";
import { presentChanges, writtenRowTypes } from "./written-rows.ts";

/** Runs a statement in the ledger's own session or in a caller's transaction. */
type Run = <Row>(statement: Statement, values: StatementValue[]) => Promise<Row[]>;

export function runInSession(session: Session): Run {
  return (statement, values) => session.query(statement, values);
}

export function runWithin(tx: Database): Run {
  return async <Row>({ text }: Statement, values: StatementValue[]) =>
    (await tx.executeQuery<Row>(CompiledQuery.raw(text, values))).rows;
}

/** `FOR UPDATE` in id order, which prevents deadlocks. */
export async function lockWallets(tx: Database, accountIds: readonly AccountId[]): Promise<void> {
  await sql`select 1 from wallets where account_id = any(${accountIds}) order by account_id for update`.execute(tx);
}

const loadStatement = {
  name: "ledger-load",
  text: `select found_wallets as wallets, found_buckets as buckets, found_holds as holds, found_postings as postings,
    found_spending as spending from ledger_load($1, $2, $3, $4, $5, $6)`,
};

/** Loads the needed rows in one statement, so in one snapshot. */
export async function loadState(run: Run, needs: Needs): Promise<LedgerState> {
  const [loaded] = await run<LoadedRow>(loadStatement, [
    presentTexts(needs.accountIds),
    presentTexts(needs.bucketIds),
    presentTexts(needs.holdIds),
    presentTexts(needs.transactionIds),
    presentTexts(needs.spending.map(({ keyId }) => keyId)),
    presentTexts(needs.spending.map(({ startsAt }) => startsAt.toISOString())),
  ]);
  invariant(loaded !== undefined, "ledger_load returned no row");
  return toState(loaded, needs);
}

const writtenRows = writtenRowTypes.map(({ name }, index) => `$${index + 2}::text::${name}[]`);
const writeStatement = { name: "ledger-commit", text: `select ledger_commit($1, ${writtenRows.join()}) as others` };

/**
 * Writes changes and ends claims in one transaction. Returns the amounts after the write if other processes had written
 * since `state` was loaded, else `null`. Throws, and writes nothing, if the decision is no longer valid.
 */
export async function writeChanges(
  run: Run,
  changes: Changes,
  { state, endedClaims }: { state: LedgerState; endedClaims: readonly EndedClaim[] },
): Promise<Others | null> {
  const [answer] = await run<{ others: OthersRow | null }>(writeStatement, presentChanges(changes, state, endedClaims));
  invariant(answer !== undefined, "ledger_commit returned no row");
  return answer.others === null ? null : toOthers(answer.others);
}

/** Frees the money for others. Needs no new version: a process that still caches the reserve only leaves more untouched. */
export async function endReserve(database: Database, { accountId, owner }: IdleReserve): Promise<void> {
  await database
    .updateTable("wallets")
    .set({ reserved: 0n })
    .where("account_id", "=", accountId)
    .where("reserved_by", "=", owner)
    .execute();
}

/** `ledger_commit` raises SL001 if another process changed what the decision was based on. */
export function isOutdated(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SL001";
}

/** The open holds of all accounts, per unit. */
type HoldTotal = { unit: Unit; count: number; amount: bigint };

export async function sumOpenHolds(database: Database): Promise<HoldTotal[]> {
  const { rows } = await sql<HoldTotal>`
    select unit, count(*)::float8 as count, sum(amount)::bigint as amount from holds
      where state = 'open' group by unit`.execute(database);
  return rows;
}

/** What accounts have spent of their balances since a moment on the half hour, with what is on hold. */
export async function sumSpentSince(
  database: Database,
  accountIds: readonly AccountId[],
  since: Date,
): Promise<Map<AccountId, Nano>> {
  const { rows } = await sql<{ account_id: AccountId; spent: string }>`
    select account_id, sum(amount)::text as spent from (
        select account_id, paid as amount from usage_rollups
          where account_id = any(${accountIds}) and slot_at >= ${since} and unit = 'money'
        union all
        select account_id, charges.paid from wallets join charges using (account_id)
          where account_id = any(${accountIds}) and has_unrolled and created_at >= rolled_until and created_at >= ${since}
            and charges.unit = 'money'
        union all
        select account_id, amount from holds where account_id = any(${accountIds}) and state = 'open' and unit = 'money'
      ) as parts group by account_id`.execute(database);
  return new Map(rows.map(({ account_id: accountId, spent }) => [accountId, nano(BigInt(spent))]));
}

/** The first key of a lineage, and the start of a budget period. */
export type SpendingPeriod = { keyId: KeyId; startsAt: Date };

/** Returns a lookup of what key lineages have spent in their budget periods. */
export async function listKeySpending(
  database: Database,
  accountId: AccountId,
  periods: readonly SpendingPeriod[],
): Promise<(period: SpendingPeriod) => Nano> {
  if (periods.length === 0) return () => nano(0n);
  const { rows } = await sql<{ key_id: KeyId; starts_at: Date; spent: bigint }>`
    select key_spending.key_id, key_spending.starts_at, key_spending.spent
      from key_spending join unnest(
        ${periods.map(({ keyId }) => keyId)}::text[],
        ${periods.map(({ startsAt }) => startsAt)}::timestamptz[]
      ) as asked (key_id, starts_at) using (key_id, starts_at)
      where key_spending.account_id = ${accountId}`.execute(database);
  const spent = new Map(
    rows.map((row) => [nameSpending({ keyId: row.key_id, startsAt: row.starts_at }), nano(row.spent)]),
  );
  return (period) => spent.get(nameSpending(period)) ?? nano(0n);
}

/** Money of several accounts, from open buckets that have not expired. Accounts without a bucket have none. */
export async function sumMoney(
  database: Database,
  accountIds: readonly AccountId[],
  now: Date,
): Promise<Map<AccountId, { available: Nano; total: Nano }>> {
  const { rows } = await sql<{ account_id: AccountId; total: string; held: string }>`
    select account_id, sum(case when expires_at <= ${now} then held else posted end)::text as total,
        sum(held)::text as held
      from buckets where account_id = any(${accountIds}) and is_open and unit = 'money'
      group by account_id`.execute(database);
  return new Map(
    rows.map(({ account_id, total, held }) => [
      account_id,
      { available: nano(BigInt(total) - BigInt(held)), total: nano(BigInt(total)) },
    ]),
  );
}

export type OperatorAction = { id: string; actor: string; action: string; reason: string; createdAt: Date };

export async function insertOperatorAction(tx: Database, action: OperatorAction): Promise<void> {
  await tx
    .insertInto("operator_actions")
    .values({
      id: action.id,
      actor: action.actor,
      action: action.action,
      reason: action.reason,
      created_at: action.createdAt,
    })
    .execute();
}

export async function hasPostings(database: Database): Promise<boolean> {
  return (await database.selectFrom("postings").select("number").limit(1).executeTakeFirst()) !== undefined;
}

/** Stores the currency if there is none or it may be replaced. Returns the ledger's currency. */
export async function writeCurrency(
  tx: Database,
  currency: string,
  { mayReplace }: { mayReplace: boolean },
): Promise<string> {
  await sql`insert into ledger_currencies (currency) values (${currency})
    on conflict (only_one) do update set currency = excluded.currency where ${mayReplace}`.execute(tx);
  const row = await tx.selectFrom("ledger_currencies").select("currency").executeTakeFirst();
  invariant(row !== undefined, "the ledger has no currency");
  return row.currency;
}
