import type { Database } from "../../platform/database/database.ts";

/** Queues bytes for the archive, in the transaction that inserts their file. */
export async function insertUnarchivedBytes(tx: Database, storageKey: string): Promise<void> {
  await tx.insertInto("unarchived_bytes").values({ storage_key: storageKey }).execute();
}

export async function listUnarchivedBytes(database: Database, countMax: number): Promise<string[]> {
  const rows = await database.selectFrom("unarchived_bytes").select("storage_key").limit(countMax).execute();
  return rows.map(({ storage_key }) => storage_key);
}

export async function isUnarchived(database: Database, storageKey: string): Promise<boolean> {
  const query = database.selectFrom("unarchived_bytes").select("storage_key").where("storage_key", "=", storageKey);
  return (await query.executeTakeFirst()) !== undefined;
}

export async function deleteUnarchivedBytes(database: Database, storageKey: string): Promise<void> {
  await database.deleteFrom("unarchived_bytes").where("storage_key", "=", storageKey).execute();
}

/** For a gateway whose archive was switched off. */
export async function forgetUnarchivedBytes(database: Database): Promise<void> {
  await database.deleteFrom("unarchived_bytes").execute();
}
