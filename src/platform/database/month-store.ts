import { sql } from "kysely";
import type { Database } from "./database.ts";

/**
 * Tables with a partition for each month, by ranges of ids: a row is in the month of its partition key's id. For a delivery
 * that is its event's id, for an attempt its delivery's.
 */
const monthlyTables = ["tasks", "events", "deliveries", "delivery_attempts", "charges"] as const;
type MonthlyTable = (typeof monthlyTables)[number];
/** Charges are kept forever. */
type ForgettableTable = Exclude<MonthlyTable, "charges">;

/** More than a month, so that a partition exists before its first row even if the job did not run for a while. */
const aheadDays = 32;
/** Short, because requests queue up behind the lock; the next run retries. */
const lockTimeoutMs = 2000;

/** Creates the partitions of the coming month. */
export async function makeMonths(database: Database, now: Date): Promise<void> {
  await database.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
    await sql`select make_months(${now}, ${now}::timestamptz + ${`${aheadDays} days`}::interval)`.execute(tx);
  });
}

/** The same for `migrate`, by the database's clock. */
export const makeMonthsStatement = `select make_months(now(), now() + interval '${aheadDays} days')`;

/** Drops the months of tables that only contain older rows, in one transaction. */
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

/** In UTC, like the partitions. */
export function findMonthStart(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth()));
}

const strayRowsMax = 100_000;

/** Rows in default partitions, by table. More than zero means that a clock is wrong or the job has not run for a month. */
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
