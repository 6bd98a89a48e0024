import { sql } from "kysely";
import { presentLeastId, type TaskId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

/** The oldest task that is not over. */
export async function findOldestOpen(database: Database): Promise<TaskId | null> {
  const { rows } = await sql<{ id: TaskId | null }>`select min(task_id) as id from task_leases`.execute(database);
  return rows[0]?.id ?? null;
}

/** Removes some of the tasks that were made before a moment and are over; answers how many. */
export async function deleteTasksBefore(database: Database, before: Date, countMax: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from tasks where id in (
      select id from tasks where id < ${presentLeastId("task", before)} and phase = 'ended' order by id limit ${countMax})
  `.execute(database);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Erases what some of the tasks were asked for that were made before a moment and are over; answers how many. What kind of
 * request it was stays: it is the task's type.
 */
export async function erasePromptsBefore(
  database: Database,
  { before, now, countMax }: { before: Date; now: Date; countMax: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update tasks set request = jsonb_build_object('type', request -> 'type'), inputs = '[]', prompt_erased_at = ${now}
      where id in (
        select id from tasks
          where prompt_erased_at is null and id < ${presentLeastId("task", before)} and phase = 'ended'
          order by id limit ${countMax})`.execute(database);
  return Number(numAffectedRows ?? 0n);
}
