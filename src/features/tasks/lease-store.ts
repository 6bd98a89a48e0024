import { type RawBuilder, sql } from "kysely";
import type { TaskId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ClaimedTask, Task } from "./task.ts";
import { type TaskRow, toTask } from "./task-rows.ts";

/** A worker's lease of a task, valid until a newer fencing token replaces it. */
export type Lease = Pick<ClaimedTask, "id" | "fencingToken">;

/** A lease that is not renewed expires at `until`. */
export type LeaseTime = { now: Date; until: Date };

/** Claimed tasks. An unreadable row stays leased, so that it does not block other tasks. */
export type Claimed = { tasks: ClaimedTask[]; unreadable: unknown[] };

/** Claims due tasks, the longest due first. */
export async function claimDueTasks(
  database: Database,
  { limit, ...time }: LeaseTime & { limit: number },
): Promise<Claimed> {
  return await claim(database, sql`next_poll_at <= ${time.now} order by next_poll_at limit ${limit}`, time);
}

/** Claims those of the given tasks that are due. */
export async function claimTasks(database: Database, taskIds: readonly string[], time: LeaseTime): Promise<Claimed> {
  return await claim(database, sql`task_id = any(${taskIds}) and next_poll_at <= ${time.now}`, time);
}

/**
 * `FOR UPDATE SKIP LOCKED`: skip rows another worker is claiming. The tasks are read in a second query by id, so that
 * PostgreSQL prunes partitions, which it cannot do in a join. Skips a task that was canceled in between.
 */
async function claim(database: Database, due: RawBuilder<unknown>, { until }: LeaseTime): Promise<Claimed> {
  const { rows: leases } = await sql<{ task_id: string; fencing_token: number; abandoned_at: Date | null }>`
    with due as materialized (
      select task_id, case when rested_at is null then next_poll_at end as abandoned_at
        from task_leases where ${due} for update skip locked)
    update task_leases
      set next_poll_at = ${until}, fencing_token = fencing_token + 1, polls = polls + 1, rested_at = null
      from due where task_leases.task_id = due.task_id
      returning task_leases.task_id, task_leases.fencing_token, due.abandoned_at`.execute(database);
  const claimed: Claimed = { tasks: [], unreadable: [] };
  if (leases.length === 0) return claimed;
  const leaseById = new Map(leases.map((lease) => [lease.task_id, lease]));
  const { rows } = await sql<TaskRow>`
    select * from tasks where id = any(${[...leaseById.keys()]}::text[]) and phase <> 'ended'`.execute(database);
  for (const row of rows) {
    try {
      const { fencing_token: fencingToken = 0, abandoned_at: abandonedAt = null } = leaseById.get(row.id) ?? {};
      claimed.tasks.push({ ...toTask(row), fencingToken, abandonedAt });
    } catch (error) {
      claimed.unreadable.push(error);
    }
  }
  return claimed;
}

/**
 * Locks a task's lease until the transaction ends. Returns `false` if the task has ended or another worker has claimed
 * it.
 */
export async function lockLease(tx: Database, { id, fencingToken }: { id: string; fencingToken?: number }) {
  const lease = await tx
    .selectFrom("task_leases")
    .select("fencing_token")
    .where("task_id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return lease !== undefined && (fencingToken === undefined || lease.fencing_token === fencingToken);
}

/** Whether a worker still holds its lease. */
export async function hasLease(database: Database, { id, fencingToken }: Lease): Promise<boolean> {
  const lease = await database
    .selectFrom("task_leases")
    .select("fencing_token")
    .where("task_id", "=", id)
    .executeTakeFirst();
  return lease?.fencing_token === fencingToken;
}

/** When the next open task is due; `null` if no task is open. */
export async function findNextDue(database: Database): Promise<Date | null> {
  const { rows } = await sql<{ due_at: Date | null }>`
    select min(next_poll_at) as due_at from task_leases`.execute(database);
  return rows[0]?.due_at ?? null;
}

/** Whether a task that was due then is still unclaimed, which means that no worker is running. */
export async function hasTasksDueBefore(database: Database, moment: Date): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select exists (select from task_leases where next_poll_at < ${moment}) as is_due`.execute(database);
  return rows[0]?.is_due === true;
}

/** Open tasks, when the oldest queued task was created, and since when the longest-due task is due. */
export type TaskLag = { queued: number; processing: number; oldestQueuedAt: Date | null; oldestDueAt: Date | null };

export async function readTaskLag(database: Database): Promise<TaskLag> {
  const { rows } = await sql<TaskLag>`
    select count(*) filter (where tasks.state = 'queued')::float8 as queued,
        count(*) filter (where tasks.state <> 'queued')::float8 as processing,
        min(tasks.created_at) filter (where tasks.state = 'queued') as "oldestQueuedAt",
        min(task_leases.next_poll_at) as "oldestDueAt"
      from task_leases join tasks on tasks.id = task_leases.task_id`.execute(database);
  return rows[0] ?? { queued: 0, processing: 0, oldestQueuedAt: null, oldestDueAt: null };
}

/** Renews leases that are still held and were not written to since. Returns the renewed ones. */
export async function renewLeases(
  database: Database,
  leases: readonly (Lease & { until: Date })[],
  until: Date,
): Promise<Set<string>> {
  const { rows } = await sql<{ task_id: string }>`
    update task_leases set next_poll_at = ${until}
      from unnest(
        ${leases.map(({ id }) => id)}::text[],
        ${leases.map(({ fencingToken }) => fencingToken)}::int[],
        ${leases.map((lease) => lease.until)}::timestamptz[]
      ) as held (id, fencing_token, until)
      where task_leases.task_id = held.id and task_leases.fencing_token = held.fencing_token and task_leases.next_poll_at = held.until
      returning task_leases.task_id`.execute(database);
  return new Set(rows.map((row) => row.task_id));
}

/** Releases leases without any other change, and sets when the tasks are due again. */
export async function releaseLeases(
  database: Database,
  leases: readonly (Lease & { dueAt: Date })[],
  now: Date,
): Promise<void> {
  await sql`
    update task_leases set ${rest(sql`given.due_at`, now)}
      from unnest(
        ${leases.map(({ id }) => id)}::text[],
        ${leases.map(({ fencingToken }) => fencingToken)}::int[],
        ${leases.map(({ dueAt }) => dueAt)}::timestamptz[]
      ) as given (id, fencing_token, due_at)
      where task_leases.task_id = given.id and task_leases.fencing_token = given.fencing_token`.execute(database);
}

/** Sets when the task is due and revokes its lease, so that its worker cannot postpone it. */
export async function revokeLease(tx: Database, taskId: TaskId, dueAt: Date): Promise<void> {
  await sql`
    update task_leases set next_poll_at = ${dueAt}, fencing_token = fencing_token + 1, rested_at = ${dueAt}
      where task_id = ${taskId}`.execute(tx);
}

/** Sets when the task of a locked lease is due. */
export async function updateLease(tx: Database, taskId: TaskId, { dueAt, now }: { dueAt: Date; now: Date }) {
  await sql`update task_leases set ${rest(sql`${dueAt}::timestamptz`, now)} where task_id = ${taskId}`.execute(tx);
}

/** The end of a step. After a hint, the task is due as soon as its upstream allows. */
export function rest(dueAt: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
    next_poll_at = least(${dueAt}, ${now}::timestamptz + hinted_after_ms * interval '1 ms'),
    rested_at = ${now}, hinted_after_ms = null`;
}

/** The upstream hints that the task's job has changed: it is due now, but not earlier than `afterMs` after its last step. */
export async function hintLease(
  database: Database,
  taskId: TaskId,
  { afterMs, now }: { afterMs: number; now: Date },
): Promise<void> {
  await sql`
    update task_leases set
        hinted_after_ms = case when rested_at is null then ${afterMs}::int end,
        next_poll_at = case when rested_at is null then next_poll_at
          else least(next_poll_at, greatest(${now}::timestamptz, rested_at + ${afterMs} * interval '1 ms')) end
      where task_id = ${taskId}`.execute(database);
}

export async function deleteLease(tx: Database, taskId: TaskId): Promise<void> {
  await tx.deleteFrom("task_leases").where("task_id", "=", taskId).execute();
}

/**
 * Makes tasks due now that wait for the provider. Accounts take turns: the one with the fewest tasks at the provider goes
 * first, and its longest waiting task. Returns whether there are any.
 */
export async function wakeWaitingTasks(
  database: Database,
  providerId: string,
  { count, now }: { count: number; now: Date },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    with waiting as materialized (
        select id, account_id from tasks where waits_for = ${providerId} and phase = 'ready' order by id limit ${consideredMax}
      ), at_work as (
        select account_id, count(*) as count from tasks
          where provider_id = ${providerId} and phase in ('submitting', 'unknown', 'running') group by account_id
      ), turns as (
        select waiting.id, coalesce(at_work.count, 0) +
            row_number() over (partition by waiting.account_id order by waiting.id) as turn
          from waiting
            -- Without those that a worker has just claimed.
            join task_leases on task_leases.task_id = waiting.id and task_leases.next_poll_at > ${now}
              and task_leases.rested_at is not null
            left join at_work on at_work.account_id = waiting.account_id
      )
    update task_leases set next_poll_at = ${now}, fencing_token = fencing_token + 1, rested_at = ${now}
      where task_id in (select id from turns order by turn, id limit ${count})`.execute(database);
  return numAffectedRows > 0n;
}

/** How many waiting tasks take part in the choice of the next: with more, the newest wait until older ones have started. */
const consideredMax = 5_000;

/**
 * Cancels the children of an ended parent: a worker ends them at once. A child in mid-submission stays with its worker,
 * as
 * in any cancel. Lock order: leases, then tasks.
 */
export async function cancelChildren(tx: Database, parentId: TaskId, now: Date): Promise<void> {
  await sql`
    select task_id from task_leases where task_id in (select id from tasks where parent_id = ${parentId})
      order by task_id for update`.execute(tx);
  await sql`
    update task_leases set next_poll_at = ${now}, fencing_token = fencing_token + 1, rested_at = ${now}
      where task_id in (select id from tasks where parent_id = ${parentId} and phase in ('ready', 'unknown', 'running'))
  `.execute(tx);
  await sql`
    update tasks set cancel_requested_at = ${now}, version = version + 1, updated_at = ${now}
      where parent_id = ${parentId} and phase <> 'ended' and cancel_requested_at is null`.execute(tx);
}

/** All children of a composite task, open and ended. */
export async function listChildren(database: Database, parentId: TaskId): Promise<Task[]> {
  const rows = await database.selectFrom("tasks").selectAll().where("parent_id", "=", parentId).orderBy("id").execute();
  return rows.map(toTask);
}

/** The output files of a composite task's children. */
export async function listChildOutputs(tx: Database, parentId: TaskId): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select item ->> 'fileId' as id from tasks, jsonb_array_elements(output) as item
      where parent_id = ${parentId}`.execute(tx);
  return rows.map(({ id }) => id);
}
