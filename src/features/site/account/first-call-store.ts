import { sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { findNewestRefusal } from "../../requests/index.ts";

const dayMs = 24 * 60 * 60_000;

/** Whether anything was charged or started, and when one of the account's own keys was last used. */
export type FirstCall = {
  hasSucceeded: boolean;
  keyUsedAt: Date | null;
  /** The error of the newest rejected call of the last day. */
  refusal: { status: number; code: string } | null;
};

/** Reads the ledger's charges, the tasks, key uses and the request log by index only, since pages poll it. */
export async function readFirstCall(database: Database, accountId: AccountId, now: Date): Promise<FirstCall> {
  const { rows } = await sql<FirstCallRow>`
    select exists (select from charges where account_id = ${accountId})
        or exists (select from tasks where account_id = ${accountId}) as has_succeeded,
      (select max(use.last_used_at) from api_keys key join api_key_uses use on use.key_id = key.id
        where key.account_id = ${accountId} and not key.is_console) as used_at,
      (select coalesce(array_agg(id), '{}') from api_keys where account_id = ${accountId} and is_console) as console_keys
    `.execute(database);
  const [row] = rows;
  const since = new Date(now.getTime() - dayMs);
  const exceptKeyIds = new Set(row?.console_keys);
  const refusal = await findNewestRefusal(database, { accountId, since, exceptKeyIds });
  return { hasSucceeded: row?.has_succeeded ?? false, keyUsedAt: row?.used_at ?? null, refusal };
}

type FirstCallRow = { has_succeeded: boolean; used_at: Date | null; console_keys: string[] };
