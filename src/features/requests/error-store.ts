import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { RowType } from "../../platform/database/row-arrays.ts";
import type { LoggedRequest, RequestError, RequestRecord } from "./request-record.ts";

export type FailedRequest = LoggedRequest & { error: RequestError };

/** The table's columns, in order. */
export const errorRow: RowType<FailedRequest> = {
  name: "request_errors",
  columns: [
    ["account_id", "text", ({ accountId }) => accountId],
    ["created_at", "timestamptz", ({ createdAt }) => createdAt],
    ["id", "text", ({ id }) => id],
    ["message", "text", ({ error }) => error.message],
    ["param", "text", ({ error }) => error.param],
  ],
};

export function hasError(record: LoggedRequest): record is FailedRequest {
  return record.error !== undefined && record.error !== null;
}

/** The stored errors of requests, by request id. */
export async function listErrors(
  database: Database,
  accountId: AccountId,
  requests: readonly RequestRecord[],
): Promise<ReadonlyMap<string, RequestError>> {
  const failed = requests.filter(({ errorCode }) => errorCode !== null);
  if (failed.length === 0) return new Map();
  const moments = failed.map(({ createdAt }) => createdAt);
  const { rows } = await sql<RequestError & { id: string }>`
    select id, message, param from request_errors
      where account_id = ${accountId} and created_at = any(${moments}::timestamptz[])
        and id = any(${failed.map(({ id }) => id)})`.execute(database);
  return new Map(rows.map(({ id, message, param }) => [id, { message, param }]));
}
