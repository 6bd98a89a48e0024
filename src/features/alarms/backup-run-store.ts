import { sql } from "kysely";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** Records a complete backup. */
export async function recordBackup(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
  kind: "full" | "base",
): Promise<void> {
  await sql`insert into backup_runs (id, kind, finished_at) values (${ids.next("bak")}, ${kind}, ${clock.now()})`.execute(
    database,
  );
}

/** When the newest backup was finished, and when this database was created. */
export async function readBackupTimes(database: Database): Promise<{ newestAt: Date | null; createdAt: Date | null }> {
  const { rows } = await sql<{ newest: Date | null; created: Date | null }>`
    select (select max(finished_at) from backup_runs) as newest,
      (select min(created_at) from accounts) as created`.execute(database);
  return { newestAt: rows[0]?.newest ?? null, createdAt: rows[0]?.created ?? null };
}
