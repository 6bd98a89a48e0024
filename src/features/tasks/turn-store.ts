import { type RawBuilder, sql } from "kysely";
import type { TaskId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ClaimedTask } from "./task.ts";
import { type TaskRow, toTask } from "./task-rows.ts";

/** A claim of a task: whoever has a newer number has it. */
export type Turn = { id: TaskId; claim: number };

/** From `now` on, until a worker that says nothing is believed to be dead. */
export type Lease = { now: Date; until: Date };

/** Takes tasks that somebody has to look at, those that wait longest first. Until the lease is over nobody else does. */
export async function claimDueTasks(
  database: Database,
  { limit, ...lease }: Lease & { limit: number },
): Promise<ClaimedTask[]> {
  const due = sql`select task_id from task_turns where next_poll_at <= ${lease.now} order by next_poll_at limit ${limit}`;
  return await claim(database, due, lease);
}

/** Takes the given tasks, as far as nobody has looked at them yet or somebody has to look at them again. */
export async function claimTasks(database: Database, taskIds: readonly string[], lease: Lease): Promise<ClaimedTask[]> {
  const due = sql`
    select task_id from task_turns where task_id = any(${taskIds}) and (claim = 0 or next_poll_at <= ${lease.now})`;
  return await claim(database, due, lease);
}

/** What another worker is just taking is passed over, not waited for. */
async function claim(database: Database, due: RawBuilder<unknown>, { until }: Lease): Promise<ClaimedTask[]> {
  const { rows } = await sql<TaskRow & { claim: number }>`
    with due as materialized (${due} for update skip locked),
      taken as (
        update task_turns set next_poll_at = ${until}, claim = claim + 1, polls = polls + 1
          from due where task_turns.task_id = due.task_id
          returning task_turns.task_id, task_turns.claim
      )
    select tasks.*, taken.claim from taken join tasks on tasks.id = taken.task_id`.execute(database);
  return rows.map((row) => ({ ...toTask(row), claim: row.claim }));
}

/** Whether a task that somebody had to look at then is still waiting: as if there were no workers. */
export async function hasTurnsDueBefore(database: Database, moment: Date): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select exists (select from task_turns where next_poll_at < ${moment}) as is_due`.execute(database);
  return rows[0]?.is_due === true;
}

/** Keeps claims a little longer, as far as they still hold and nothing was written since; answers which did. */
export async function renewTurns(
  database: Database,
  turns: readonly (Turn & { until: Date })[],
  until: Date,
): Promise<Set<string>> {
  const { rows } = await sql<{ task_id: string }>`
    update task_turns set next_poll_at = ${until}
      from unnest(
        ${turns.map(({ id }) => id)}::text[],
        ${turns.map(({ claim }) => claim)}::int[],
        ${turns.map((turn) => turn.until)}::timestamptz[]
      ) as kept (id, claim, until)
      where task_turns.task_id = kept.id and task_turns.claim = kept.claim and task_turns.next_poll_at = kept.until
      returning task_turns.task_id`.execute(database);
  return new Set(rows.map((row) => row.task_id));
}

/** Gives tasks back with nothing changed, to be looked at again later. */
export async function returnTurns(database: Database, turns: readonly (Turn & { nextPollAt: Date })[]): Promise<void> {
  await sql`
    update task_turns set next_poll_at = given.next_poll_at
      from unnest(
        ${turns.map(({ id }) => id)}::text[],
        ${turns.map(({ claim }) => claim)}::int[],
        ${turns.map(({ nextPollAt }) => nextPollAt)}::timestamptz[]
      ) as given (id, claim, next_poll_at)
      where task_turns.task_id = given.id and task_turns.claim = given.claim`.execute(database);
}

/** Somebody has to look at the task then. Whoever has it in hand loses it, so that they cannot put it off again. */
export async function resetTurn(tx: Database, taskId: TaskId, nextPollAt: Date): Promise<void> {
  await sql`
    update task_turns set next_poll_at = ${nextPollAt}, claim = claim + 1 where task_id = ${taskId}`.execute(tx);
}

/** Nobody has to look at it any more. */
export async function deleteTurn(tx: Database, taskId: TaskId): Promise<void> {
  await tx.deleteFrom("task_turns").where("task_id", "=", taskId).execute();
}

/** The task that has waited longest for a place at the provider is looked at next. */
export async function wakeWaitingTask(database: Database, providerId: string, now: Date): Promise<void> {
  await sql`
    update task_turns set next_poll_at = ${now}, claim = claim + 1
      where task_id = (
        select tasks.id from tasks join task_turns as turns on turns.task_id = tasks.id
          where tasks.waits_for = ${providerId} and tasks.phase = 'ready' and turns.next_poll_at > ${now}
          order by tasks.id limit 1
      )`.execute(database);
}
