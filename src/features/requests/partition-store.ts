import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** The table is in use: a run that does not get its locks leaves the work to the next one. */
const lockTimeoutMs = 2000;

/** The log tables and the length of their partitions. */
const units = { request_blocks: "month", requests: "month", request_errors: "month", request_contents: "day" } as const;

type Roll = { table: keyof typeof units; now: Date; ahead: Date; keptFrom: Date };

/** Creates a log's next partitions, and drops those that are entirely older than `keptFrom`. */
export async function rollPartitions(database: Database, { table, now, ahead, keptFrom }: Roll): Promise<void> {
  const unit = units[table];
  await database.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
    await sql`select make_partitions(${table}, ${unit}, ${now}, ${ahead})`.execute(tx);
  });
  await database.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
    await sql`select drop_partitions(${table}, ${unit}, ${keptFrom})`.execute(tx);
  });
}

export async function deleteGaps(database: Database, keptFrom: Date): Promise<void> {
  await database.deleteFrom("request_gaps").where("to_at", "<", keptFrom).execute();
}

/** Calls missing from the log, of gaps that ended since. */
export async function sumLostRequests(database: Database, since: Date): Promise<number> {
  const { rows } = await sql<{ lost: number }>`
    select coalesce(sum(lost), 0)::float8 as lost from request_gaps where to_at >= ${since}`.execute(database);
  return rows[0]?.lost ?? 0;
}

/** Rows in the default partitions: none, unless a clock is wrong or the job has not run for long. */
export async function countStrayRequests(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      (select 1 from request_blocks_default limit 100000)
      union all (select 1 from request_contents_default limit 100000)
    ) as strays`.execute(database);
  return rows[0]?.count ?? 0;
}
