import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** The next account, in the order of their ids, with charges that may not be in the roll-ups yet. */
export async function findAccountToRollUp(database: Database, after: AccountId | null): Promise<AccountId | null> {
  const { rows } = await sql<{ account_id: AccountId }>`
    select account_id from wallets where account_id > ${after ?? ""} and rolled_up_from > '-infinity'
      order by account_id limit 1`.execute(database);
  return rows[0]?.account_id ?? null;
}

/** Adds some of an account's older charges to its roll-ups, and answers whether there may be more. */
export async function rollUpOlderCharges(
  database: Database,
  { accountId, chargesMax }: { accountId: AccountId; chargesMax: number },
): Promise<boolean> {
  const { rows } = await sql<{ has_more: boolean }>`
    select roll_up_older_charges(${accountId}, ${chargesMax}) as has_more`.execute(database);
  return rows[0]?.has_more === true;
}
