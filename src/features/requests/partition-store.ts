import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** Others use the table meanwhile: what does not get its locks soon is tried again by the next run. */
const lockTimeoutMs = 2000;

/** The logs by their tables, and how long a partition of each is. */
const units = { requests: "month", request_upstreams: "month", request_contents: "day" } as const;

type Roll = { table: keyof typeof units; now: Date; ahead: Date; keptFrom: Date };

/** Makes the partitions of a log that come next, and drops those in which nothing is as young as `keptFrom`. */
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

export async function forgetGaps(database: Database, keptFrom: Date): Promise<void> {
  await database.deleteFrom("request_gaps").where("to_at", "<", keptFrom).execute();
}

/** How many calls or contents are in no partition of their time: none, unless a clock is wrong or the upkeep has not run for long. */
export async function countStrayRequests(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      (select 1 from requests_default limit 100000) union all (select 1 from request_contents_default limit 100000)
        union all (select 1 from request_upstreams_default limit 100000)
    ) as strays`.execute(database);
  return rows[0]?.count ?? 0;
}
