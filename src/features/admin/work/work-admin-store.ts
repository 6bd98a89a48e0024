import { type RawBuilder, sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

/** `open` and `failed` stand for two states each; the others are states of tasks. */
export const taskGroups = ["open", "queued", "processing", "failed", "succeeded", "canceled"] as const;
type TaskGroup = (typeof taskGroups)[number];

export type WorkTask = {
  id: string;
  accountId: AccountId;
  email: string | null;
  parentId: string | null;
  type: string;
  model: string;
  state: string;
  phase: string;
  progress: number;
  /** The upstream that has the task, or that it waits for. */
  provider: string | null;
  isWaiting: boolean;
  errorCode: string | null;
  createdAt: Date;
  finishedAt: Date | null;
  deadlineAt: Date;
  /** When a worker looks at it next; `null` if it has ended. */
  dueAt: Date | null;
};

type TaskFilter = { group: TaskGroup; accountId: AccountId | null; model: string | null; provider: string | null };

/** How many tasks a page reads at most: those that match a filter may be far apart. */
const scannedMax = 10_000;

/**
 * Tasks of all accounts. Open ones begin with the oldest, because that is the one that is stuck; ended ones with the newest.
 * Open tasks are found by their leases, which are few. `next` is where the next page begins, also if this one is short because
 * enough was read.
 */
export async function listWorkTasks(
  database: Database,
  { group, accountId, model, provider }: TaskFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ tasks: WorkTask[]; next: string | null }> {
  const isOpen = group === "open" || group === "queued" || group === "processing";
  const direction = isOpen ? sql`asc` : sql`desc`;
  const scan = isOpen ? scanOpen(group, after) : scanEnded(group, { after, accountId });
  const { rows } = await sql<TaskRow>`
    with scanned as materialized (${scan} order by id ${direction} limit ${scannedMax})
    select found.*, account.email from scanned found left join accounts account on account.id = found.account_id
      where (${group} in ('open', 'failed') or state = ${group})
        and (${accountId}::text is null or account_id = ${accountId}) and (${model}::text is null or model = ${model})
        and (${provider}::text is null or provider = ${provider})
      order by found.id ${direction} limit ${limit + 1}`.execute(database);
  const tasks = rows.slice(0, limit).map(toWorkTask);
  if (rows.length > limit) return { tasks, next: tasks.at(-1)?.id ?? null };
  const { rows: ends } = await sql<{ id: string }>`
    select id from (${scan} order by id ${direction} limit ${scannedMax}) scanned
      order by id ${direction} offset ${scannedMax - 1} limit 1`.execute(database);
  return { tasks, next: ends[0]?.id ?? null };
}

const columns = sql`task.id, account_id, parent_id, type, model, state, phase, progress,
  coalesce(waits_for, provider_id, target ->> 'providerId') as provider, waits_for is not null as is_waiting,
  error ->> 'code' as error_code, created_at, finished_at, deadline_at`;

function scanOpen(group: TaskGroup, after: string | null): RawBuilder<unknown> {
  return sql`
    select ${columns}, lease.next_poll_at as due_at from task_leases lease join tasks task on task.id = lease.task_id
      where (${after}::text is null or lease.task_id > ${after}) and (${group} = 'open' or task.state = ${group})`;
}

function scanEnded(
  group: TaskGroup,
  { after, accountId }: { after: string | null; accountId: AccountId | null },
): RawBuilder<unknown> {
  // Failures have an index with this condition; of other states, the newest tasks are searched.
  const inGroup = group === "failed" ? sql`(state = 'failed' or state = 'expired')` : sql`true`;
  return sql`
    select ${columns}, null::timestamptz as due_at from tasks task
      where (${after}::text is null or id < ${after}) and (${accountId}::text is null or account_id = ${accountId}) and ${inGroup}`;
}

type TaskRow = {
  id: string;
  account_id: AccountId;
  email: string | null;
  parent_id: string | null;
  type: string;
  model: string;
  state: string;
  phase: string;
  progress: number;
  provider: string | null;
  is_waiting: boolean;
  error_code: string | null;
  created_at: Date;
  finished_at: Date | null;
  deadline_at: Date;
  due_at: Date | null;
};

function toWorkTask(row: TaskRow): WorkTask {
  return {
    ...{ id: row.id, accountId: row.account_id, email: row.email, parentId: row.parent_id, type: row.type },
    ...{ model: row.model, state: row.state, phase: row.phase, progress: row.progress, provider: row.provider },
    ...{ isWaiting: row.is_waiting, errorCode: row.error_code, createdAt: row.created_at, finishedAt: row.finished_at },
    ...{ deadlineAt: row.deadline_at, dueAt: row.due_at },
  };
}

/** When a worker looks at a task next, and how often one has. */
export async function findTaskLease(database: Database, id: string): Promise<{ dueAt: Date; polls: number } | null> {
  const row = await database
    .selectFrom("task_leases")
    .select(["next_poll_at", "polls"])
    .where("task_id", "=", id)
    .executeTakeFirst();
  return row === undefined ? null : { dueAt: row.next_poll_at, polls: row.polls };
}

/** Since when the longest waiting task of each provider waits. */
export async function listLongestWaits(database: Database): Promise<Map<string, Date>> {
  const { rows } = await sql<{ waits_for: string; since: Date }>`
    select waits_for, min(created_at) as since from tasks where waits_for is not null and phase = 'ready'
      group by waits_for`.execute(database);
  return new Map(rows.map(({ waits_for: provider, since }) => [provider, since]));
}

/** `failing`: given up, or pending after a failed attempt. */
export const deliveryGroups = ["failing", "pending", "succeeded", "failed"] as const;
type DeliveryGroup = (typeof deliveryGroups)[number];

export type WorkDelivery = {
  id: string;
  eventId: string;
  eventType: string;
  accountId: AccountId;
  email: string | null;
  endpointId: string | null;
  url: string;
  state: string;
  attempts: number;
  nextAttemptAt: Date | null;
  createdAt: Date;
  /** Of the last attempt. */
  status: number | null;
  error: string | null;
};

/** Newest first, with the outcome of the last attempt. Reads the tables of webhooks. */
export async function listWorkDeliveries(
  database: Database,
  { group, accountId, eventId }: { group: DeliveryGroup; accountId: AccountId | null; eventId: string | null },
  { after, limit }: { after: string | null; limit: number },
): Promise<WorkDelivery[]> {
  // The condition of the index on failures.
  const inGroup =
    group === "failing"
      ? sql`(state = 'failed' or (state = 'pending' and attempt_count > 0))`
      : group === "failed"
        ? sql`(state = 'failed' or (state = 'pending' and attempt_count > 0)) and state = 'failed'`
        : sql`state = ${group}`;
  const { rows } = await sql<{
    id: string;
    event_id: string;
    type: string;
    account_id: AccountId;
    email: string | null;
    endpoint_id: string | null;
    url: string;
    state: string;
    attempt_count: number;
    next_attempt_at: Date | null;
    created_at: Date;
    status: number | null;
    error: string | null;
  }>`
    select delivery.*, event.type, account.email, last.status, last.error from (
        select id, event_id, account_id, endpoint_id, url, state, attempt_count, created_at,
            case when lease_id is null then due_at end as next_attempt_at from deliveries
          where ${inGroup} and (${after}::text is null or id < ${after})
            and (${accountId}::text is null or account_id = ${accountId}) and (${eventId}::text is null or event_id = ${eventId})
          order by id desc limit ${limit}) delivery
      join events event on event.id = delivery.event_id
      left join accounts account on account.id = delivery.account_id
      left join lateral (
        select status, error from delivery_attempts where delivery_id = delivery.id order by attempted_at desc limit 1
      ) last on true
      order by delivery.id desc`.execute(database);
  return rows.map((row) => ({
    ...{ id: row.id, eventId: row.event_id, eventType: row.type, accountId: row.account_id, email: row.email },
    ...{ endpointId: row.endpoint_id, url: row.url, state: row.state, attempts: row.attempt_count },
    ...{ nextAttemptAt: row.next_attempt_at, createdAt: row.created_at, status: row.status, error: row.error },
  }));
}

export type AccountStorage = {
  accountId: AccountId;
  email: string;
  uploads: { files: bigint; bytes: bigint };
  outputs: { files: bigint; bytes: bigint };
};

export type StoragePlace = { bytes: bigint; accountId: string };

/** Accounts by the bytes of their uploads, the largest first. Outputs are summed for the listed accounts only. */
export async function listStorage(
  database: Database,
  { after, limit }: { after: StoragePlace | null; limit: number },
): Promise<AccountStorage[]> {
  const { rows } = await sql<{
    account_id: AccountId;
    email: string;
    files: bigint;
    bytes: bigint;
    output_files: string;
    output_bytes: string;
  }>`
    select used.account_id, account.email, used.files, used.bytes, output.files::text as output_files,
        output.bytes::text as output_bytes
      from (
        select account_id, files, bytes from file_usages
          where ${after === null} or (bytes, account_id) < (${String(after?.bytes ?? 0n)}::bigint, ${after?.accountId ?? ""})
          order by bytes desc, account_id desc limit ${limit}) used
      join accounts account on account.id = used.account_id
      cross join lateral (
        select count(*) as files, coalesce(sum(bytes), 0) as bytes from files
          where files.account_id = used.account_id and purpose = 'output') output
      order by used.bytes desc, used.account_id desc`.execute(database);
  return rows.map((row) => ({
    ...{ accountId: row.account_id, email: row.email, uploads: { files: row.files, bytes: row.bytes } },
    outputs: { files: BigInt(row.output_files), bytes: BigInt(row.output_bytes) },
  }));
}

/** Uploads of all accounts, and expired files that wait for their deletion; the count stops at a limit. */
export async function sumStorage(
  database: Database,
  now: Date,
): Promise<{ files: bigint; bytes: bigint; expired: number }> {
  const { rows } = await sql<{ files: string; bytes: string; expired: number }>`
    select coalesce(sum(files), 0)::text as files, coalesce(sum(bytes), 0)::text as bytes,
      (select count(*)::integer from (select 1 from files where expires_at <= ${now} limit 10000) gone) as expired
      from file_usages`.execute(database);
  const [row] = rows;
  return { files: BigInt(row?.files ?? 0), bytes: BigInt(row?.bytes ?? 0), expired: row?.expired ?? 0 };
}
