import { sql } from "kysely";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { FailedAttempt } from "../../platform/http/request-context.ts";
import type { BlockRecord } from "./request-block.ts";
import type { RequestEnding } from "./request-record.ts";

type OldRow = Tables["requests"] & { error_message: string | null; error_param: string | null };

/** Removes and returns calls that version 0.2 wrote, one row each. */
export async function takeOldRows(tx: Database, limit: number): Promise<BlockRecord[]> {
  const { rows } = await sql<OldRow>`
  with picked as (
    select account_id, created_at, id from requests limit ${limit} for update skip locked
  ), taken as (
    delete from requests using picked where requests.account_id = picked.account_id
        and requests.created_at = picked.created_at and requests.id = picked.id
      returning requests.*
  ), errors as (
    delete from request_errors error using picked where error.account_id = picked.account_id
        and error.created_at = picked.created_at and error.id = picked.id
      returning error.*
  )
  select taken.*, errors.message as error_message, errors.param as error_param
    from taken left join errors using (account_id, created_at, id)`.execute(tx);
  return rows.map(toRecord);
}

function toRecord(row: OldRow): BlockRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    accountId: row.account_id as AccountId,
    keyId: row.key_id as KeyId,
    clientRequestId: row.client_request_id,
    wire: row.wire,
    method: row.method,
    route: row.route,
    model: row.model,
    status: row.status,
    errorCode: row.error_code,
    ending: row.ending as RequestEnding,
    durationMs: row.duration_ms,
    firstTokenMs: row.first_token_ms,
    inputTokens: row.input_tokens,
    cachedInputTokens: row.cached_input_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    audioInputTokens: row.audio_input_tokens,
    audioOutputTokens: row.audio_output_tokens,
    charge: row.charge_nano === null ? null : nano(row.charge_nano),
    chargeId: row.charge_id,
    taskId: row.task_id,
    userAgent: row.user_agent,
    isReplayed: row.is_replayed,
    upstream: row.upstream,
    failedAttempts: JSON.parse(row.failed_attempts ?? "[]") as FailedAttempt[],
    error: row.error_message === null ? null : { message: row.error_message, param: row.error_param },
    isAmendment: false,
  };
}
