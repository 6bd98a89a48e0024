import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** Records bytes before they are written, so that the sweep finds them if the writer dies. */
export async function insertUnownedBytes(database: Database, storageKey: string, dueAt: Date): Promise<void> {
  await database
    .insertInto("unowned_bytes")
    .values({ storage_key: storageKey, due_at: dueAt, is_doomed: false })
    .execute();
}

/** Assigns bytes to a file, in the transaction that inserts it. Returns `false` if their deletion has begun. */
export async function takeUnownedBytes(tx: Database, storageKey: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("unowned_bytes")
    .where("storage_key", "=", storageKey)
    .where("is_doomed", "=", false)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Marks bytes for deletion. Returns `false` if they belong to a file or are already gone. */
export async function doomUnownedBytes(database: Database, storageKey: string, dueAt: Date): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("unowned_bytes")
    .set({ is_doomed: true, due_at: dueAt })
    .where("storage_key", "=", storageKey)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Claims due bytes for deletion, and postpones the next attempt. Returns their keys. */
export async function claimDueBytes(
  database: Database,
  { now, nextAt, countMax }: { now: Date; nextAt: Date; countMax: number },
): Promise<string[]> {
  const { rows } = await sql<{ storage_key: string }>`
    update unowned_bytes set is_doomed = true, due_at = ${nextAt}
      where storage_key in (
        select storage_key from unowned_bytes where due_at <= ${now} order by due_at
          limit ${countMax} for update skip locked)
      returning storage_key`.execute(database);
  return rows.map(({ storage_key }) => storage_key);
}

export async function deleteUnownedBytes(database: Database, storageKey: string): Promise<void> {
  await database.deleteFrom("unowned_bytes").where("storage_key", "=", storageKey).execute();
}
