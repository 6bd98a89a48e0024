import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** Locks the open-task counts of the owners until the transaction ends, in id order to prevent deadlocks. */
export async function lockCounts(tx: Database, ownerIds: readonly string[]): Promise<Map<string, number>> {
  const owners = [...new Set(ownerIds)].toSorted();
  const known = await selectCounts(tx, owners);
  if (known.size === owners.length) return known;
  await sql`
    insert into task_counts (owner_id, open_tasks) select id, 0 from unnest(${owners}::text[]) as owners (id)
      order by id on conflict do nothing`.execute(tx);
  return await selectCounts(tx, owners);
}

async function selectCounts(tx: Database, owners: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ owner_id: string; open_tasks: number }>`
    select owner_id, open_tasks from task_counts where owner_id = any(${owners})
      order by owner_id for update`.execute(tx);
  return new Map(rows.map((row) => [row.owner_id, row.open_tasks]));
}

/** Updates locked counts. */
export async function changeCounts(tx: Database, changes: ReadonlyMap<string, number>): Promise<void> {
  await sql`
    update task_counts set open_tasks = open_tasks + changes.by
      from unnest(${[...changes.keys()]}::text[], ${[...changes.values()]}::int[]) as changes (owner_id, by)
      where task_counts.owner_id = changes.owner_id`.execute(tx);
}
