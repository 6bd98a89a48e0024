import { sql } from "kysely";
import type { Database } from "../../../platform/database/database.ts";

/** Accounts that were charged in a period, from the ledger's roll-ups and the charges since. */
export async function countActiveAccounts(database: Database, { from, to }: { from: Date; to: Date }): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select account_id from usage_rollups where slot_at >= ${from} and slot_at < ${to}
      union
      select account_id from wallets where has_unrolled and exists (
        select from charges where charges.account_id = wallets.account_id
          and created_at >= greatest(wallets.rolled_until, ${from}) and created_at < ${to})) active`.execute(database);
  return rows[0]?.count ?? 0;
}

/** Ids are in the order of time, so the primary key finds the accounts of a period. */
export async function countNewAccounts(
  database: Database,
  { from, to }: { from: string; to: string },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from accounts where id >= ${from} and id < ${to}`.execute(database);
  return rows[0]?.count ?? 0;
}
