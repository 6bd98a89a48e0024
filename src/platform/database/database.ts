import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from "kysely";
import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import { createPoolDriver, type PoolOptions } from "./pool-driver.ts";
import type { Tables } from "./tables.ts";

export type { DatabaseAddress } from "./database-address.ts";
export { toDatabaseAddress } from "./database-hosts.ts";
export { isDatabaseUnavailable } from "./unavailable.ts";

export type Database = Kysely<Tables>;

const bigintOid = 20;
const bigintArrayOid = 1016;

export function createDatabase(options: PoolOptions): Database {
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => createPoolDriver(options, { getTypeParser }),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (database) => new PostgresIntrospector(database),
    },
  });
}

/** Uses the caller's transaction, or starts one. */
export async function inTransaction<T>(database: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  return database.isTransaction ? await work(database) : await database.transaction().execute(work);
}

/** With a `statement_timeout`, for operators' queries that may have much to count. */
export async function readBriefly<T>(
  database: Database,
  timeoutMs: number,
  read: (tx: Database) => Promise<T>,
): Promise<T> {
  return await database
    .transaction()
    .setAccessMode("read only")
    .execute(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(timeoutMs)}`.execute(tx);
      return await read(tx);
    });
}

/** Writes nothing, but fails like a write on a read-only server. */
export const writeProbe = "select 1 from schema_migrations where false for update";

/** Throws if the database does not answer or accepts no writes. */
export async function pingDatabase(database: Database): Promise<void> {
  await sql.raw(writeProbe).execute(database);
}

export async function readServerVersion(database: Database): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database);
  return rows[0]?.server_version ?? "";
}

export const serverTimeQuery = "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms";

export async function readServerTimeMs(database: Database): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`${sql.raw(serverTimeQuery)}`.execute(database);
  invariant(rows[0] !== undefined, "the database returned no time");
  return rows[0].now_ms;
}

/** Parses 64-bit integers (money and counts) as `bigint`. */
export const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") => {
  if (oid === bigintOid) return BigInt;
  const parse = pg.types.getTypeParser(oid, format as "text");
  return oid === bigintArrayOid ? (text: string) => parse(text).map(BigInt) : parse;
};

/** U+0000 in a text or a JSON escape, which PostgreSQL rejects. */
export function isUnstorableText(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "22021" || error.code === "22P05");
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}
