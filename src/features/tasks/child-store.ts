import { sql } from "kysely";
import type { TaskId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Task } from "./task.ts";
import { toTask } from "./task-rows.ts";

/** All tasks that a task needed, open and ended. */
export async function listChildren(database: Database, parentId: TaskId): Promise<Task[]> {
  const rows = await database.selectFrom("tasks").selectAll().where("parent_id", "=", parentId).orderBy("id").execute();
  return rows.map(toTask);
}

/**
 * Nobody wants what these tasks would make any more: they are ended by whoever looks at them next, which is at once. One
 * that is just being handed over stays with who does that, as whenever a task is canceled. Turns are locked before
 * tasks, as by everybody.
 */
export async function cancelChildren(tx: Database, parentId: TaskId, now: Date): Promise<void> {
  await sql`
    select task_id from task_turns where task_id in (select id from tasks where parent_id = ${parentId})
      order by task_id for update`.execute(tx);
  await sql`
    update task_turns set next_poll_at = ${now}, claim = claim + 1
      where task_id in (select id from tasks where parent_id = ${parentId} and phase in ('ready', 'unknown', 'running'))
  `.execute(tx);
  await sql`
    update tasks set cancel_requested_at = ${now}, version = version + 1, updated_at = ${now}
      where parent_id = ${parentId} and phase <> 'ended' and cancel_requested_at is null`.execute(tx);
}

/** Whether a worker still has what it claimed. */
export async function isClaimed(database: Database, { id, claim }: { id: TaskId; claim: number }): Promise<boolean> {
  const turn = await database.selectFrom("task_turns").select("claim").where("task_id", "=", id).executeTakeFirst();
  return turn?.claim === claim;
}
