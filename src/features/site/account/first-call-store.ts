import { sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

/** How far an account has got: whether anything was charged or begun for it, and when a key of its own came last. */
export type FirstCall = { hasSucceeded: boolean; keyUsedAt: Date | null };

/**
 * From the ledger's charges, the tasks and the uses of keys, by their indexes alone: it is asked for again and again. What
 * people do in the console is done with a key as well, which is none of theirs.
 */
export async function readFirstCall(database: Database, accountId: AccountId): Promise<FirstCall> {
  const { rows } = await sql<{ has_succeeded: boolean; used_at: Date | null }>`
    select exists (select from charges where account_id = ${accountId})
        or exists (select from tasks where account_id = ${accountId}) as has_succeeded,
      (select max(use.last_used_at) from api_keys key join api_key_uses use on use.key_id = key.id
        where key.account_id = ${accountId} and not key.is_console) as used_at`.execute(database);
  const [row] = rows;
  return { hasSucceeded: row?.has_succeeded === true, keyUsedAt: row?.used_at ?? null };
}
