import { sql } from "kysely";
import type { AccountId } from "../../../src/lib/ids.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { type HeldLock, holdLock } from "../hold-lock.ts";

/** Locks an account's wallet, as a slow commit would, until the test frees it. */
export async function lockWallet(database: Database, accountId: AccountId): Promise<HeldLock> {
  return await holdLock(database, async (tx) => {
    await sql`select 1 from wallets where account_id = ${accountId} for update`.execute(tx);
  });
}
