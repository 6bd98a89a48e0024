import { type RawBuilder, sql, type Updateable } from "kysely";
import { type AccountId, type HoldId, presentLeastId, type TaskId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import { lockLease, rest } from "./lease-store.ts";
import { parseTask } from "./parse-task.ts";
import type { LeaseChange, NewTask, Task, TaskChange, TaskState, TaskType } from "./task.ts";
import { presentTerms, toTask } from "./task-rows.ts";

/** A new task as it is read back after the insert. */
export function toQueuedTask(task: NewTask): Task {
  return parseTask({
    ...task,
    traceparent: task.traceparent ?? null,
    state: "queued",
    phase: "ready",
    progress: 0,
    version: 1,
    output: [],
    warnings: [],
    error: null,
    charge: nano(0n),
    units: 0n,
    target: null,
    handle: null,
    tried: [],
    waitsFor: null,
    lostAt: null,
    cancelRequestedAt: null,
    cancelAskedAt: null,
    submittedAt: null,
    startedAt: null,
    finishedAt: null,
    updatedAt: task.createdAt,
    promptErasedAt: null,
  });
}

/** Inserts new tasks, due at once. */
export async function insertTasks(tx: Database, tasks: readonly NewTask[], now: Date): Promise<void> {
  // One JSON parameter: thousands of bind parameters would take longer than the rows.
  const rows = JSON.stringify(tasks.map(toNewRow));
  await sql`insert into tasks select * from jsonb_populate_recordset(null::tasks, ${rows}::jsonb)`.execute(tx);
  await sql`
    insert into task_leases (task_id, next_poll_at, fencing_token, polls)
      select id, ${now}, 0, 0 from unnest(${tasks.map(({ id }) => id)}::text[]) as new (id)`.execute(tx);
}

type AbsentAtFirst =
  | "error"
  | "target"
  | "provider_id"
  | "handle"
  | "waits_for"
  | "lost_at"
  | "cancel_requested_at"
  | "cancel_sent_at"
  | "submitted_at"
  | "started_at"
  | "finished_at"
  | "prompt_erased_at";

function toNewRow(task: NewTask): Record<Exclude<keyof Tables["tasks"], AbsentAtFirst>, unknown> {
  return {
    id: task.id,
    account_id: task.accountId,
    key_id: task.keyId,
    parent_id: task.parentId,
    type: task.type,
    model: task.model,
    state: "queued",
    phase: "ready",
    progress: 0,
    version: 1,
    request: task.request,
    inputs: task.inputs,
    steps: task.steps,
    terms: presentTerms(task.terms),
    hold_id: task.holdId,
    output_ids: task.outputIds,
    output: [],
    warnings: [],
    charge: 0,
    units: 0,
    metadata: task.metadata,
    callback_url: task.callbackUrl,
    request_id: task.requestId,
    client_request_id: task.clientRequestId,
    traceparent: task.traceparent ?? null,
    tried: [],
    deadline_at: task.deadlineAt,
    created_at: task.createdAt,
    updated_at: task.createdAt,
  };
}

export async function findTask(database: Database, taskId: string): Promise<Task | null> {
  const row = await database.selectFrom("tasks").selectAll().where("id", "=", taskId).executeTakeFirst();
  return row === undefined ? null : toTask(row);
}

export type TaskFilter = {
  accountId?: AccountId;
  state?: TaskState;
  type?: TaskType;
  model?: string;
  /** Child tasks are listed only by their parent. */
  parentId: string | null;
  /** Created at or after this time. */
  from?: Date;
  /** Created before this time. */
  to?: Date;
  /** All must occur in the request's texts, the id or the model id. Only the newest tasks are searched. */
  words?: readonly string[];
};

/** Bounds the load of a search or count on the shared database. */
export const scannedTasksMax = 10_000;

/** Newest first; `after` is the previous page's last id. */
export async function listTasks(
  database: Database,
  filter: TaskFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<Task[]> {
  const { words = [] } = filter;
  const newest = selectNewest(database, filter, after).selectAll();
  const query =
    words.length === 0
      ? newest
      : database
          .selectFrom(newest.limit(scannedTasksMax).as("tasks"))
          .selectAll()
          .where(hasWords(words))
          .orderBy("id", "desc");
  const rows = await query.limit(limit).execute();
  return rows.map(toTask);
}

/** The last task that a search starting at `after` reads; `null` if it reads all of them. */
export async function findScanEnd(
  database: Database,
  filter: TaskFilter,
  after: string | null,
): Promise<string | null> {
  const [last, next] = await selectNewest(database, filter, after)
    .select("id")
    .offset(scannedTasksMax - 1)
    .limit(2)
    .execute();
  return next === undefined ? null : (last?.id ?? null);
}

export type TaskCount = { state: TaskState; type: TaskType; count: number };

/** Counts the newest tasks by state and type. */
export async function countTasks(
  database: Database,
  filter: TaskFilter,
): Promise<{ counts: TaskCount[]; isComplete: boolean }> {
  const { words = [] } = filter;
  const newest = selectNewest(database, filter, null).select(["id", "state", "type", "model", "request"]);
  const rows = await database
    .selectFrom(newest.limit(scannedTasksMax).as("tasks"))
    .$if(words.length > 0, (query) => query.where(hasWords(words)))
    .select(["state", "type", ({ fn }) => fn.countAll<bigint>().as("count")])
    .groupBy(["state", "type"])
    .orderBy("state")
    .orderBy("type")
    .execute();
  const counts = rows.map(({ state, type, count }) => ({
    state: state as TaskState,
    type: type as TaskType,
    count: Number(count),
  }));
  return { counts, isComplete: (await findScanEnd(database, filter, null)) === null };
}

function selectNewest(
  database: Database,
  { accountId, state, type, model, parentId, from, to }: TaskFilter,
  after: string | null,
) {
  return (
    database
      .selectFrom("tasks")
      .$if(accountId !== undefined, (query) => query.where("account_id", "=", accountId ?? ""))
      .$if(state !== undefined, (query) => query.where("state", "=", state ?? ""))
      .$if(type !== undefined, (query) => query.where("type", "=", type ?? ""))
      .$if(model !== undefined, (query) => query.where("model", "=", model ?? ""))
      .where("parent_id", parentId === null ? "is" : "=", parentId)
      // Ids sort by time, so a time is a position in the primary key.
      .$if(from !== undefined, (query) => query.where("id", ">=", presentLeastId("task", from ?? new Date(0))))
      .$if(to !== undefined, (query) => query.where("id", "<", presentLeastId("task", to ?? new Date(0))))
      .$if(after !== null, (query) => query.where("id", "<", after ?? ""))
      .orderBy("id", "desc")
  );
}

/** The text fields of all request types. */
function hasWords(words: readonly string[]) {
  const patterns = words.map((word) => `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`);
  return sql<boolean>`
    concat_ws(' ', id, model, request ->> 'prompt', request ->> 'text', request ->> 'title', request #>> '{source,text}')
      ilike all (${patterns}::text[])`;
}

export type TaskSpan = Pick<Task, "type" | "createdAt" | "finishedAt">;

const spansMax = 200;

/** Start and end of the newest tasks of an account or key, newest first. */
export async function listRecentSpans(
  database: Database,
  { accountId, keyId }: { accountId: AccountId; keyId: string | null },
): Promise<TaskSpan[]> {
  let query = database
    .selectFrom("tasks")
    .select(["type", "created_at", "finished_at"])
    .where("account_id", "=", accountId)
    .where("parent_id", "is", null)
    .orderBy("id", "desc")
    .limit(spansMax);
  if (keyId !== null) query = query.where("key_id", "=", keyId);
  const rows = await query.execute();
  return rows.map((row) => ({ type: row.type as TaskType, createdAt: row.created_at, finishedAt: row.finished_at }));
}

/** The number of queued tasks of the model up to and including this one. */
export async function countWaiting(database: Database, { model, id }: Pick<Task, "model" | "id">): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select count(*)::int as position from (
      select 1 from tasks where model = ${model} and phase = 'ready' and id <= ${id} limit 10000
    ) as waiting`.execute(database);
  return rows[0]?.position ?? 0;
}

/** Locks an open task until the transaction ends, its lease first. Returns `null` if the task has ended. */
export async function lockTask(tx: Database, id: string): Promise<Task | null> {
  return (await lockLease(tx, { id })) ? await findTask(tx, id) : null;
}

type WrittenChange = { change: TaskChange & { charge?: Task["charge"] }; isVisible: boolean; now: Date };

/** Updates a task whose lease is locked and returns its version, which increases with every visible change. */
export async function updateTask(tx: Database, taskId: TaskId, written: WrittenChange): Promise<number> {
  const { version } = await tx
    .updateTable("tasks")
    .set(toColumns(written))
    .where("id", "=", taskId)
    .returning("version")
    .executeTakeFirstOrThrow();
  return version;
}

/**
 * Updates a claimed task and its lease in one statement. Returns the new version, or `null` without any change if the
 * lease was lost.
 */
export async function updateClaimedTask(
  database: Database,
  { id, fencingToken }: { id: TaskId; fencingToken: number },
  { lease, ...written }: WrittenChange & { lease: Exclude<LeaseChange, { kind: "end" }> },
): Promise<number | null> {
  const row = await database
    .with("lease", () => changeLease({ id, fencingToken }, lease, written.now))
    .updateTable("tasks")
    .set(toColumns(written))
    // The literal id lets PostgreSQL prune partitions; the subquery enforces the fencing token.
    .where("id", "=", id)
    .where("id", "in", (query) => query.selectFrom("lease").select("task_id"))
    .returning("version")
    .executeTakeFirst();
  return row?.version ?? null;
}

function changeLease(
  { id, fencingToken }: { id: TaskId; fencingToken: number },
  lease: Exclude<LeaseChange, { kind: "end" }>,
  now: Date,
): RawBuilder<{ task_id: string }> {
  const change = {
    keep: () => sql`fencing_token = fencing_token`,
    due: (at: Date) => rest(sql`${at}::timestamptz`, now),
    revoke: (at: Date) => sql`next_poll_at = ${at}, fencing_token = fencing_token + 1, rested_at = ${now}`,
  };
  return sql`(
    update task_leases set ${lease.kind === "keep" ? change.keep() : change[lease.kind](lease.at)}
      where task_id = ${id} and fencing_token = ${fencingToken} returning task_id
  )`;
}

function toColumns({ change, isVisible, now }: WrittenChange): Updateable<Tables["tasks"]> {
  const { state, phase, progress, output, warnings, error, charge, units, target, handle, tried } = change;
  const given = {
    state,
    phase,
    progress,
    version: isVisible ? sql<number>`version + 1` : undefined,
    output: output && JSON.stringify(output),
    warnings: warnings && JSON.stringify(warnings),
    steps: change.steps && JSON.stringify(change.steps),
    error: toJson(error),
    charge,
    units,
    target: toJson(target),
    provider_id: target?.providerId,
    handle: toJson(handle),
    tried: tried && JSON.stringify(tried),
    waits_for: change.waitsFor,
    lost_at: change.lostAt,
    cancel_requested_at: change.cancelRequestedAt,
    cancel_sent_at: change.cancelAskedAt,
    submitted_at: change.submittedAt,
    started_at: change.startedAt,
    finished_at: change.finishedAt,
    updated_at: now,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** SQL NULL, not a JSON null. */
function toJson(value: unknown): string | null | undefined {
  return value === null || value === undefined ? value : JSON.stringify(value);
}

/** Notifies every node which tasks have changed. */
export async function notifyChanges(
  database: Database,
  changes: readonly { id: string; version: number }[],
): Promise<void> {
  const payloads = changes.map(({ id, version }) => `${id} ${version}`);
  await sql`select pg_notify('tasks', payload) from unnest(${payloads}::text[]) as changed (payload)`.execute(database);
}

/** Notifies every node of due tasks that this node does not claim. */
export async function notifyDue(database: Database): Promise<void> {
  await sql`select pg_notify('tasks_due', '')`.execute(database);
}

/** Open holds whose task has ended or does not exist. */
export async function listStrayHolds(
  database: Database,
  { before, limit }: { before: Date; limit: number },
): Promise<{ holdId: HoldId; accountId: AccountId; taskId: TaskId }[]> {
  const { rows } = await sql<{ hold_id: HoldId; account_id: AccountId; task_id: TaskId }>`
    select holds.id as hold_id, holds.account_id, holds.cause_id as task_id from holds
      where holds.state = 'open' and holds.cause_kind = 'task' and holds.opened_at < ${before}
        and not exists (select 1 from tasks where tasks.hold_id = holds.id and tasks.phase <> 'ended')
      order by holds.id limit ${limit}`.execute(database);
  return rows.map((row) => ({ holdId: row.hold_id, accountId: row.account_id, taskId: row.task_id }));
}
