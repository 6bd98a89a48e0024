import { sql } from "kysely";
import type { Database } from "./database.ts";

/**
 * Tables that are partitioned by month, by ranges of ids: a row lies in the month in which its key was made. Of a delivery
 * this is its event's id, of an attempt its delivery's. Migration 0057 has made them.
 */
const monthlyTables = ["tasks", "events", "deliveries", "delivery_attempts", "charges"] as const;
type MonthlyTable = (typeof monthlyTables)[number];
/** Nothing is ever deleted of the money. */
type ForgettableTable = Exclude<MonthlyTable, "charges">;

/** Long enough that a month is there before its first row, however long a gateway stood still. */
const aheadDays = 32;
/** Others use the tables meanwhile: what does not get its locks soon is tried again by the next run. */
const lockTimeoutMs = 2000;

/** Makes the months that come next. */
export async function makeMonths(database: Database, now: Date): Promise<void> {
  await database.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
    await sql`select make_months(${now}, ${now}::timestamptz + ${`${aheadDays} days`}::interval)`.execute(tx);
  });
}

/** The same for a gateway that migrates, by the database's own time. Nothing where months are not known yet. */
export const makeMonthsStatement = `
  do $$ begin
    if to_regprocedure('make_months(timestamptz, timestamptz)') is not null then
      perform make_months(now(), now() + interval '${aheadDays} days');
    end if;
  end $$`;

/** Takes away the months of tables in which everything is older than a moment, all of them or none. */
export async function dropMonths(
  database: Database,
  tables: readonly ForgettableTable[],
  keptFrom: Date,
): Promise<number> {
  return await database.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
    let dropped = 0;
    for (const table of tables) {
      const { rows } = await sql<{ dropped: number }>`select drop_months(${table}, ${keptFrom}) as dropped`.execute(tx);
      dropped += rows[0]?.dropped ?? 0;
    }
    return dropped;
  });
}

/** The beginning of a moment's month, in UTC, as the partitions have it. */
export function findMonthStart(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth()));
}

const strayRowsMax = 100_000;

/** How many rows are in no month's partition, by table: none, unless a clock is wrong or the upkeep has not run for long. */
export async function countStrayRows(database: Database): Promise<{ table: MonthlyTable; count: number }[]> {
  const found: { table: MonthlyTable; count: number }[] = [];
  for (const table of monthlyTables) {
    const strays = sql.table(`${table}_default`);
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from (select from ${strays} limit ${strayRowsMax}) as strays`.execute(database);
    found.push({ table, count: rows[0]?.count ?? 0 });
  }
  return found;
}
