import { sql, type Updateable } from "kysely";
import type { AccountId, HoldId, TaskId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { Task, TaskState, TaskType } from "./task.ts";
import { presentTerms, toTask } from "./task-rows.ts";

/** What changes on a task's way; all of it begins the same for every task. */
type ChangingField =
  | "state"
  | "phase"
  | "progress"
  | "version"
  | "output"
  | "warnings"
  | "error"
  | "charge"
  | "units"
  | "target"
  | "handle"
  | "tried"
  | "waitsFor"
  | "lostAt"
  | "cancelRequestedAt"
  | "cancelAskedAt"
  | "submittedAt"
  | "startedAt"
  | "finishedAt";

export type NewTask = Omit<Task, ChangingField | "updatedAt">;

/** A new task as it is once it is written. */
export function toQueuedTask(task: NewTask): Task {
  return {
    ...task,
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
  };
}

/** Writes new tasks, and when somebody has to look at them if nobody did before. */
export async function insertTasks(tx: Database, tasks: readonly NewTask[], nextPollAt: Date): Promise<void> {
  // One value however many there are: thousands of parameters would take longer than the rows.
  const rows = JSON.stringify(tasks.map(toNewRow));
  await sql`insert into tasks select * from jsonb_populate_recordset(null::tasks, ${rows}::jsonb)`.execute(tx);
  await sql`
    insert into task_turns (task_id, next_poll_at, claim, polls)
      select id, ${nextPollAt}, 0, 0 from unnest(${tasks.map(({ id }) => id)}::text[]) as new (id)`.execute(tx);
}

type AbsentAtFirst =
  | "error"
  | "target"
  | "provider_id"
  | "handle"
  | "waits_for"
  | "lost_at"
  | "cancel_requested_at"
  | "cancel_asked_at"
  | "submitted_at"
  | "started_at"
  | "finished_at";

/** As JSON, which has no whole numbers of 64 bits. */
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
  /** Steps of a task are listed with it only. */
  parentId: string | null;
};

/** Newest first; `after` is the id of the last one of the page before. */
export async function listTasks(
  database: Database,
  { accountId, state, type, model, parentId }: TaskFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<Task[]> {
  const rows = await database
    .selectFrom("tasks")
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where("account_id", "=", accountId ?? ""))
    .$if(state !== undefined, (query) => query.where("state", "=", state ?? ""))
    .$if(type !== undefined, (query) => query.where("type", "=", type ?? ""))
    .$if(model !== undefined, (query) => query.where("model", "=", model ?? ""))
    .where("parent_id", parentId === null ? "is" : "=", parentId)
    .$if(after !== null, (query) => query.where("id", "<", after ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toTask);
}

export type TaskSpan = Pick<Task, "type" | "createdAt" | "finishedAt">;

const spansMax = 200;

/** When the newest tasks of an account, or of a key of its, began and ended, the newest first. */
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

/** How many tasks of the model wait before this one, itself included. */
export async function countWaiting(database: Database, { model, id }: Pick<Task, "model" | "id">): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select count(*)::int as position from (
      select 1 from tasks where model = ${model} and phase = 'ready' and id <= ${id} limit 10000
    ) as waiting`.execute(database);
  return rows[0]?.position ?? 0;
}

/**
 * Locks an open task until the transaction ends: its turn first, as everybody does. `null` when it is over, or when it
 * was lost to another worker since the claim.
 */
export async function lockTask(tx: Database, { id, claim }: { id: string; claim?: number }): Promise<Task | null> {
  const turn = await tx
    .selectFrom("task_turns")
    .select("claim")
    .where("task_id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (turn === undefined || (claim !== undefined && turn.claim !== claim)) return null;
  return await findTask(tx, id);
}

/** A change that callers can see has a new version. */
export type TaskChange = Partial<Pick<Task, ChangingField | "steps">>;

/** Changes a task that is locked. */
export async function updateTask(tx: Database, taskId: TaskId, change: TaskChange, now: Date): Promise<void> {
  await tx
    .updateTable("tasks")
    .set({ ...toColumns(change), updated_at: now })
    .where("id", "=", taskId)
    .execute();
}

/**
 * Changes a task that a worker has in hand and says when to look at it next, in one statement; without that, the worker
 * keeps it as long as it did. `false`, and nothing is changed, when another worker has it by now.
 */
export async function moveTask(
  database: Database,
  { id, claim }: { id: TaskId; claim: number },
  { change, nextPollAt, now }: { change: TaskChange; nextPollAt: Date | null; now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .with("turn", (query) =>
      query
        .updateTable("task_turns")
        .set({ next_poll_at: nextPollAt ?? sql<Date>`next_poll_at` })
        .where("task_id", "=", id)
        .where("claim", "=", claim)
        .returning("task_id"),
    )
    .updateTable("tasks")
    .set({ ...toColumns(change), updated_at: now })
    .where("id", "in", (query) => query.selectFrom("turn").select("task_id"))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

function toColumns(change: TaskChange): Updateable<Tables["tasks"]> {
  const { state, phase, progress, version, output, warnings, error, charge, units, target, handle, tried } = change;
  const given = {
    state,
    phase,
    progress,
    version,
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
    cancel_asked_at: change.cancelAskedAt,
    submitted_at: change.submittedAt,
    started_at: change.startedAt,
    finished_at: change.finishedAt,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Nothing stays nothing; JSON has a null of its own. */
function toJson(value: unknown): string | null | undefined {
  return value === null || value === undefined ? value : JSON.stringify(value);
}

/** Tells every node that tasks have changed. */
export async function notifyChanges(
  database: Database,
  changes: readonly { id: string; version: number }[],
): Promise<void> {
  const payloads = changes.map(({ id, version }) => `${id} ${version}`);
  await sql`select pg_notify('tasks', payload) from unnest(${payloads}::text[]) as told (payload)`.execute(database);
}

/** How many tasks an upstream has at a time; nobody else counts until the transaction ends. */
export async function countAtProvider(tx: Database, providerId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tasks at ${providerId}`}, 0))`.execute(tx);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from tasks
      where provider_id = ${providerId} and phase in ('submitting', 'unknown', 'running')`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** How many tasks that are older wait for a place at the provider: they go first. */
export async function countOlderWaiting(
  tx: Database,
  { id, providerId }: { id: string; providerId: string },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select 1 from tasks where waits_for = ${providerId} and phase = 'ready' and id < ${id} limit 1000
    ) as older`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Open tasks whose holds are not open, and open holds of tasks that are over: neither may be. */
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
