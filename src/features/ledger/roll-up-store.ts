import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** The next account in id order with charges that may not be rolled up yet. */
export async function findAccountToRollUp(database: Database, after: AccountId | null): Promise<AccountId | null> {
  const { rows } = await sql<{ account_id: AccountId }>`
    select account_id from wallets where account_id > ${after ?? ""} and rolled_up_from > '-infinity'
      order by account_id limit 1`.execute(database);
  return rows[0]?.account_id ?? null;
}

/** Adds up to `chargesMax` older charges to the account's roll-ups. Returns whether there may be more. */
export async function rollUpOlderCharges(
  database: Database,
  { accountId, chargesMax }: { accountId: AccountId; chargesMax: number },
): Promise<boolean> {
  const { rows } = await sql<{ has_more: boolean }>`
    select roll_up_older_charges(${accountId}, ${chargesMax}) as has_more`.execute(database);
  return rows[0]?.has_more === true;
}

/** Bounds how long the wallet is locked. */
const chargesAtOnceMax = 20_000;

/**
 * Backfills roll-ups for charges from before they existed, account by account and backwards in time. Each step commits by
 * itself, so an aborted run resumes later and usage is correct at every moment.
 */
export async function rollUpUsage(
  database: Database,
  { signal, chargesMax = chargesAtOnceMax }: { signal?: AbortSignal; chargesMax?: number } = {},
): Promise<void> {
  let accountId: AccountId | null = await findAccountToRollUp(database, null);
  while (accountId !== null) {
    while (await rollUpOlderCharges(database, { accountId, chargesMax })) if (signal?.aborted) return;
    if (signal?.aborted) return;
    accountId = await findAccountToRollUp(database, accountId);
  }
}
