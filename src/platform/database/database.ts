import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from "kysely";
import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import type { DatabaseAddress } from "./database-address.ts";
import { createPoolDriver, type PoolUse } from "./pool-driver.ts";
import type { Tables } from "./tables.ts";

export type { DatabaseAddress } from "./database-address.ts";
export { toDatabaseAddress } from "./database-hosts.ts";
export { isDatabaseUnavailable } from "./unavailable.ts";

/** What every store works with: typed queries, and `transaction()` for what must happen together. */
export type Database = Kysely<Tables>;

type DatabaseOptions = {
  address: DatabaseAddress;
  connectionsMax: number;
  /** Told of connections that broke while idle; the pool replaces them by itself. */
  onConnectionError(error: Error): void;
  /** When it says so, nobody waits for the database any longer: its connections are cut, and none is made. */
  abandoned?: AbortSignal | undefined;
  /** Handed what tells how the connections are used. */
  onPool?: ((read: () => PoolUse) => void) | undefined;
};

const bigintOid = 20;
const bigintArrayOid = 1016;

export function createDatabase(options: DatabaseOptions): Database {
  const { abandoned = new AbortController().signal, onPool = () => {} } = options;
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => createPoolDriver({ ...options, abandoned, onPool, types: { getTypeParser } }),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (database) => new PostgresIntrospector(database),
    },
  });
}

/** Does all of the work or none of it; what already runs in a transaction stays in it. */
export async function inTransaction<T>(database: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  return database.isTransaction ? await work(database) : await database.transaction().execute(work);
}

/** For what only operators look at: the server ends it after the time, however much there is to be counted. */
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

/** Writes nothing, but is refused as a write is where the database takes reads only. */
export const writeProbe = "select 1 from schema_migrations where false for update";

/** Throws when the database does not answer, or takes no writes. */
export async function pingDatabase(database: Database): Promise<void> {
  await sql.raw(writeProbe).execute(database);
}

export async function readServerVersion(database: Database): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database);
  return rows[0]?.server_version ?? "";
}

/** Answers with `now_ms`: the milliseconds of the database's own clock. */
export const serverTimeQuery = "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms";

export async function readServerTimeMs(database: Database): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`${sql.raw(serverTimeQuery)}`.execute(database);
  invariant(rows[0] !== undefined, "the database tells no time");
  return rows[0].now_ms;
}

/** Whole numbers of 64 bits stay whole: they are money and counts. */
export const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") => {
  if (oid === bigintOid) return BigInt;
  const parse = pg.types.getTypeParser(oid, format as "text");
  return oid === bigintArrayOid ? (text: string) => parse(text).map(BigInt) : parse;
};

/** Whether a text could not be stored, or looked for, because of a character in it: U+0000, as it is or as an escape. */
export function isUnstorableText(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "22021" || error.code === "22P05");
}

/** Whether a row could not be inserted because there is one with its key. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}
