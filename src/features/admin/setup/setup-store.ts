import { sql } from "kysely";
import type { Database } from "../../../platform/database/database.ts";

/** The newest backup that the command line made of this database. */
export async function findLastBackup(database: Database): Promise<Date | null> {
  const row = await database
    .selectFrom("backup_runs")
    .select(({ fn }) => fn.max("finished_at").as("newest"))
    .executeTakeFirst();
  return row?.newest ?? null;
}

/** Whether a call of a model was ever charged. */
export async function hasChargedCall(database: Database, modelIds: readonly string[]): Promise<boolean> {
  if (modelIds.length === 0) return false;
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from charges where price_id in (select id from prices where model_id = any(${modelIds}))
      limit 1) as found`.execute(database);
  return rows[0]?.found === true;
}
