import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** An account, and the moment from which its charges are in no roll-up: PostgreSQL's text, exact to the microsecond. */
export type RollUpSpan = { accountId: AccountId; since: string };

/** Accounts with such charges, in the order of their ids. */
export async function listUnrolledAccounts(
  database: Database,
  { after, limit }: { after: string; limit: number },
): Promise<AccountId[]> {
  const { rows } = await sql<{ account_id: AccountId }>`
    select account_id from wallets where has_unrolled and account_id > ${after}
      order by account_id limit ${limit}`.execute(database);
  return rows.map((row) => row.account_id);
}

/** Later commits of these accounts get `until` as their time at least. Needs the wallets' locks. */
export async function closeBooks(tx: Database, accountIds: readonly AccountId[], until: Date): Promise<RollUpSpan[]> {
  const { rows } = await sql<{ account_id: AccountId; since: string }>`
    update wallets set books_from = greatest(books_from, ${until})
      where account_id = any(${accountIds}) and rolled_until < ${until}
      returning account_id, rolled_until::text as since`.execute(tx);
  return rows.map((row) => ({ accountId: row.account_id, since: row.since }));
}

/** Later commits of the account get `until` as their time at least. Needs the wallet's lock. */
export async function closeBooksOf(tx: Database, accountId: AccountId, until: Date): Promise<void> {
  await sql`update wallets set books_from = greatest(books_from, ${until}) where account_id = ${accountId}`.execute(tx);
}

export async function addToRollUps(tx: Database, spans: readonly RollUpSpan[], until: Date): Promise<void> {
  await sql`select roll_up_usage(${listIds(spans)}, ${listMoments(spans)}, ${until})`.execute(tx);
}

/** Returns the number of accounts whose mark was still where their span begins. Needs the wallets' locks. */
export async function markRolledUp(tx: Database, spans: readonly RollUpSpan[], until: Date): Promise<bigint> {
  const { numAffectedRows } = await sql`
    update wallets set rolled_until = ${until}, has_unrolled = exists (
        select from charges where charges.account_id = wallets.account_id and created_at >= ${until})
      from unnest(${listIds(spans)}::text[], ${listMoments(spans)}::timestamptz[]) as span (account_id, since)
      where wallets.account_id = span.account_id and wallets.rolled_until = span.since`.execute(tx);
  return numAffectedRows ?? 0n;
}

const listIds = (spans: readonly RollUpSpan[]): string[] => spans.map(({ accountId }) => accountId);
const listMoments = (spans: readonly RollUpSpan[]): string[] => spans.map(({ since }) => since);
