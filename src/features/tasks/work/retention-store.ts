import { sql } from "kysely";
import { presentLeastId, type TaskId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

export async function findOldestOpen(database: Database): Promise<TaskId | null> {
  const { rows } = await sql<{ id: TaskId | null }>`select min(task_id) as id from task_leases`.execute(database);
  return rows[0]?.id ?? null;
}

/** Deletes up to `countMax` ended tasks created before a time, and returns how many. */
export async function deleteTasksBefore(database: Database, before: Date, countMax: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from tasks where id in (
      select id from tasks where id < ${presentLeastId("task", before)} and phase = 'ended' order by id limit ${countMax})
  `.execute(database);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Erases the requests, except their type, of up to `countMax` ended tasks created before a time, and returns how many.
 */
export async function erasePromptsBefore(
  database: Database,
  { before, now, countMax }: { before: Date; now: Date; countMax: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update tasks set request = jsonb_build_object('type', request -> 'type'), inputs = '[]',
        output = erase_revised_prompts(output), prompt_erased_at = ${now}
      where id in (
        select id from tasks
          where prompt_erased_at is null and id < ${presentLeastId("task", before)} and phase = 'ended'
          order by id limit ${countMax})`.execute(database);
  return Number(numAffectedRows ?? 0n);
}
