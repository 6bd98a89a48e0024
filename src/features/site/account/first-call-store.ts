import { sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

const dayMs = 24 * 60 * 60_000;

/** Whether anything was charged or started, and when one of the account's own keys was last used. */
export type FirstCall = {
  hasSucceeded: boolean;
  keyUsedAt: Date | null;
  /** The error of the newest rejected call of the last day. */
  refusal: { status: number; code: string } | null;
};

/**
 * Reads the ledger's charges, the tasks, key uses and the request log by index only, since pages poll it. Skips the
 * console's own key.
 */
export async function readFirstCall(database: Database, accountId: AccountId, now: Date): Promise<FirstCall> {
  const since = new Date(now.getTime() - dayMs);
  const { rows } = await sql<FirstCallRow>`
    select exists (select from charges where account_id = ${accountId})
        or exists (select from tasks where account_id = ${accountId}) as has_succeeded,
      (select max(use.last_used_at) from api_keys key join api_key_uses use on use.key_id = key.id
        where key.account_id = ${accountId} and not key.is_console) as used_at,
      refused.status, refused.error_code
    from (values (1)) as one
      left join lateral (
        select request.status, request.error_code from requests request join api_keys key on key.id = request.key_id
          where request.account_id = ${accountId} and request.created_at > ${since} and request.status >= 400
            and request.error_code is not null and not key.is_console
          order by request.created_at desc limit 1
      ) as refused on true`.execute(database);
  const [row] = rows;
  if (row === undefined) return { hasSucceeded: false, keyUsedAt: null, refusal: null };
  const { has_succeeded: hasSucceeded, used_at: keyUsedAt, status, error_code: code } = row;
  return { hasSucceeded, keyUsedAt, refusal: status === null || code === null ? null : { status, code } };
}

type FirstCallRow = {
  has_succeeded: boolean;
  used_at: Date | null;
  status: number | null;
  error_code: string | null;
};
