import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** Others use the table meanwhile: what does not get its locks soon is tried again by the next run. */
const lockTimeoutMs = 2000;

/**
 * Makes the months of the log that come next, and drops those in which nothing is as young as `keptFrom`; so of the gaps.
 */
export async function rollRequestPartitions(
  database: Database,
  { now, ahead, keptFrom }: { now: Date; ahead: Date; keptFrom: Date },
): Promise<void> {
  await database.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
    await sql`select make_partitions('requests', 'month', ${now}, ${ahead})`.execute(tx);
  });
  await database.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
    await sql`select drop_partitions('requests', 'month', ${keptFrom})`.execute(tx);
    await sql`delete from request_gaps where to_at < ${keptFrom}`.execute(tx);
  });
}

/** How many calls are in no month's partition: none, unless a clock is wrong or the upkeep has not run for long. */
export async function countStrayRequests(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (select 1 from requests_default limit 100000) as strays`.execute(database);
  return rows[0]?.count ?? 0;
}
