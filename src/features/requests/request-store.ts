import { type RawBuilder, sql } from "kysely";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { presentRows, type RowType } from "../../platform/database/row-arrays.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { FailedAttempt } from "../../platform/http/request-context.ts";
import { type ContentRecord, insertContents } from "./content/content-store.ts";
import { errorRow, hasError } from "./error-store.ts";
import type { LoggedRequest, RequestEnding, RequestGap, RequestRecord, ShownRequest } from "./request-record.ts";

/** The table's columns, in order. */
const requestRow: RowType<LoggedRequest> = {
  name: "requests",
  columns: [
    ["account_id", "text", ({ accountId }) => accountId],
    ["created_at", "timestamptz", ({ createdAt }) => createdAt],
    ["id", "text", ({ id }) => id],
    ["key_id", "text", ({ keyId }) => keyId],
    ["client_request_id", "text", ({ clientRequestId }) => clientRequestId],
    ["wire", "text", ({ wire }) => wire],
    ["method", "text", ({ method }) => method],
    ["route", "text", ({ route }) => route],
    ["model", "text", ({ model }) => model],
    ["status", "smallint", ({ status }) => status],
    ["error_code", "text", ({ errorCode }) => errorCode],
    ["ending", "text", ({ ending }) => ending],
    ["duration_ms", "integer", ({ durationMs }) => durationMs],
    ["first_token_ms", "integer", ({ firstTokenMs }) => firstTokenMs],
    ["input_tokens", "integer", ({ inputTokens }) => inputTokens],
    ["cached_input_tokens", "integer", ({ cachedInputTokens }) => cachedInputTokens],
    ["cache_write_tokens", "integer", ({ cacheWriteTokens }) => cacheWriteTokens],
    ["output_tokens", "integer", ({ outputTokens }) => outputTokens],
    ["reasoning_tokens", "integer", ({ reasoningTokens }) => reasoningTokens],
    ["audio_input_tokens", "integer", ({ audioInputTokens }) => audioInputTokens],
    ["audio_output_tokens", "integer", ({ audioOutputTokens }) => audioOutputTokens],
    ["charge_nano", "bigint", ({ charge }) => charge],
    ["charge_id", "text", ({ chargeId }) => chargeId],
    ["task_id", "text", ({ taskId }) => taskId],
    ["user_agent", "text", ({ userAgent }) => userAgent],
    ["is_replayed", "boolean", ({ isReplayed }) => isReplayed],
    ["upstream", "text", ({ upstream }) => upstream ?? null],
    [
      "failed_attempts",
      "text",
      ({ failedAttempts = [] }) => (failedAttempts.length === 0 ? null : JSON.stringify(failedAttempts)),
    ],
  ],
};

type BatchOptions = { isSentAgain?: boolean; contents?: readonly ContentRecord[] };

/**
 * Inserts a batch with its errors and contents. Only a retry after an unacknowledged commit ignores existing rows: the check would
 * double the cost of every batch.
 */
export async function insertRequests(
  database: Database,
  records: readonly LoggedRequest[],
  { isSentAgain = false, contents = [] }: BatchOptions = {},
): Promise<void> {
  if (contents.length > 0) {
    await inTransaction(database, async (tx) => {
      await insertRequests(tx, records, { isSentAgain });
      await insertContents(tx, contents);
    });
    return;
  }
  const failed = records.filter(hasError);
  const withErrors = sql`with failed as (
    insert into request_errors select * from unnest(${presentRows(errorRow, failed)}::request_errors[])
      on conflict do nothing)`;
  await sql`
    ${failed.length === 0 ? sql`` : withErrors}
    insert into requests select * from unnest(${presentRows(requestRow, records)}::requests[])
      ${isSentAgain ? sql`on conflict do nothing` : sql``}`.execute(database);
}

/** Adds the usage, charge and upstream, which were not known when the calls were inserted. */
export async function updateRequests(database: Database, records: readonly LoggedRequest[]): Promise<void> {
  await sql`
    update requests set input_tokens = known.input_tokens, cached_input_tokens = known.cached_input_tokens,
        cache_write_tokens = known.cache_write_tokens, output_tokens = known.output_tokens,
        reasoning_tokens = known.reasoning_tokens, audio_input_tokens = known.audio_input_tokens,
        audio_output_tokens = known.audio_output_tokens, charge_nano = known.charge_nano, charge_id = known.charge_id,
        upstream = known.upstream, failed_attempts = known.failed_attempts
      from unnest(${presentRows(requestRow, records)}::requests[]) as known
      where requests.account_id = known.account_id and requests.created_at = known.created_at
        and requests.id = known.id`.execute(database);
}

export async function insertGaps(database: Database, gaps: readonly RequestGap[], nextId: () => string): Promise<void> {
  await database
    .insertInto("request_gaps")
    .values(
      gaps.map(({ accountId, from, to, lost }) => ({
        ...{ account_id: accountId, id: nextId(), lost },
        ...{ from_at: from, to_at: to },
      })),
    )
    .execute();
}

/** A filter of requests; `null` matches everything. */
export type RequestFilter = {
  accountId: AccountId;
  from: Date;
  to: Date;
  model: string | null;
  keyId: string | null;
  wire: string | null;
  /** An inclusive range of statuses. */
  status: { least: number; most: number } | null;
  errorCode: string | null;
  clientRequestId: string | null;
  /** With the time that each id contains. */
  ids: readonly { id: string; createdAt: Date }[] | null;
};

export type RequestPlace = { id: string; createdAt: Date };

/** Newest first, starting after a position. */
export async function listRequests(
  database: Database,
  filter: RequestFilter,
  { after, limit }: { after: RequestPlace | null; limit: number },
): Promise<RequestRecord[]> {
  const conditions = [...listConditions(filter)];
  if (after !== null) conditions.push(sql`(created_at, id) < (${after.createdAt}::timestamptz, ${after.id}::text)`);
  const { status } = filter;
  const page = (more: RawBuilder<unknown>): RawBuilder<RequestRow> => sql<RequestRow>`
    select * from requests where ${sql.join(conditions, sql` and `)} ${more}
      order by created_at desc, id desc limit ${limit}`;
  if (status === null) return (await page(sql``).execute(database)).rows.map(toRecord);
  if (status.most < errorStatusMin) {
    const isOfClass = sql`and status between ${status.least} and ${status.most}`;
    return (await page(isOfClass).execute(database)).rows.map(toRecord);
  }
  // The index orders each single status by time, but not a class of them.
  const { rows } = await sql<RequestRow>`
    select page.* from generate_series(${status.least}::integer, ${status.most}::integer) as one (status)
      cross join lateral (${page(sql`and requests.status = one.status and requests.status >= 400`)}) as page
      order by created_at desc, id desc limit ${limit}`.execute(database);
  return rows.map(toRecord);
}

/** Counts up to a limit. */
export async function countRequests(database: Database, filter: RequestFilter, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select 1 from requests where ${joinConditions(filter)} limit ${limit}
    ) as found`.execute(database);
  return rows[0]?.count ?? 0;
}

export function joinConditions(filter: RequestFilter): RawBuilder<unknown> {
  const { status } = filter;
  const conditions = [...listConditions(filter)];
  if (status !== null) conditions.push(sql`status between ${status.least} and ${status.most}`);
  return sql.join(conditions, sql` and `);
}

/** Statuses from here on have an index of their own. */
const errorStatusMin = 400;

function* listConditions(filter: RequestFilter): Generator<RawBuilder<unknown>> {
  const { accountId, from, to, model, keyId, wire, errorCode, clientRequestId, ids } = filter;
  yield sql`account_id = ${accountId}`;
  yield sql`created_at >= ${from} and created_at < ${to}`;
  if (model !== null) yield sql`model = ${model}`;
  if (keyId !== null) yield sql`key_id = ${keyId}`;
  // Only a filter by its key or by ids finds the console's calls: the account's programs did not make them.
  if (keyId === null && ids === null) yield sql`(route is null or route not like '/console/%')`;
  if (wire !== null) yield sql`wire = ${wire}`;
  // Implies the partial index's predicate.
  if (wire !== null && wire !== "chat") yield sql`wire <> 'chat'`;
  if (errorCode !== null) yield sql`error_code = ${errorCode}`;
  if (clientRequestId !== null) yield sql`client_request_id = ${clientRequestId}`;
  if (ids === null) return;
  yield sql`created_at = any(${ids.map(({ createdAt }) => createdAt)}::timestamptz[])`;
  yield sql`id = any(${ids.map(({ id }) => id)}::text[])`;
}

export async function findRequest(
  database: Database,
  { accountId, id, createdAt }: RequestPlace & { accountId: AccountId },
): Promise<RequestRecord | null> {
  const { rows } = await sql<RequestRow>`
    select * from requests where account_id = ${accountId} and created_at = ${createdAt} and id = ${id}`.execute(
    database,
  );
  const [row] = rows;
  return row === undefined ? null : toRecord(row);
}

/** A call of any account, for operators. The id determines the partition; each account is one index lookup in it. */
export async function findAnyRequest(
  database: Database,
  { id, createdAt }: RequestPlace,
): Promise<ShownRequest | null> {
  const { rows } = await sql<RequestRow>`
    select request.* from accounts account cross join lateral (
      select * from requests where account_id = account.id and created_at = ${createdAt} and id = ${id}
    ) as request limit 1`.execute(database);
  const [row] = rows;
  if (row === undefined) return null;
  const failedAttempts = JSON.parse(row.failed_attempts ?? "[]") as FailedAttempt[];
  return { ...toRecord(row), error: null, upstream: row.upstream, failedAttempts };
}

/** The newest gaps of a period. */
export async function listGaps(
  database: Database,
  { accountId, from, to }: Pick<RequestFilter, "accountId" | "from" | "to">,
  limit: number,
): Promise<RequestGap[]> {
  const rows = await database
    .selectFrom("request_gaps")
    .select(["from_at", "to_at", "lost"])
    .where("account_id", "=", accountId)
    .where("to_at", ">=", from)
    .where("from_at", "<", to)
    .orderBy("to_at", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ accountId, from: row.from_at, to: row.to_at, lost: row.lost }));
}

/** The charges of tasks, from the tables of tasks and ledger. */
export async function listTaskCharges(
  database: Database,
  { accountId, taskIds }: { accountId: AccountId; taskIds: readonly string[] },
): Promise<Map<string, { chargeId: string; paid: bigint; unit: string }>> {
  if (taskIds.length === 0) return new Map();
  const { rows } = await sql<{ task_id: string; id: string; paid: bigint; unit: string }>`
    select task.id as task_id, charge.id, charge.paid, charge.unit from tasks task
      join charges charge on charge.id = 'txn_' || substr(task.hold_id, 6) and charge.account_id = task.account_id
      where task.account_id = ${accountId} and task.id = any(${taskIds})`.execute(database);
  return new Map(rows.map(({ task_id: taskId, id, paid, unit }) => [taskId, { chargeId: id, paid, unit }]));
}

type RequestRow = Tables["requests"];

/** Leaves out the upstream, which customers must not see. */
function toRecord(row: RequestRow): RequestRecord {
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
  };
}
