import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import type { Tables } from "./tables.ts";

/** What every store works with: typed queries, and `transaction()` for what must happen together. */
export type Database = Kysely<Tables>;

/** How to reach a database: an external one by its URL, the embedded one by its socket. */
export type DatabaseAddress =
  | { connectionString: string }
  | { host: string; user: string; password: string; database: string };

type DatabaseOptions = {
  address: DatabaseAddress;
  connectionsMax: number;
  /** Told of connections that broke while idle; the pool replaces them by itself. */
  onConnectionError(error: Error): void;
};

const connectMsMax = 5000;
const statementMsMax = 30_000;
const idleInTransactionMsMax = 10_000;

const bigintOid = 20;
const bigintArrayOid = 1016;

export function createDatabase({ address, connectionsMax, onConnectionError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...address,
    max: connectionsMax,
    connectionTimeoutMillis: connectMsMax,
    statement_timeout: statementMsMax,
    idle_in_transaction_session_timeout: idleInTransactionMsMax,
    application_name: "sluice",
    types: { getTypeParser },
  });
  pool.on("error", onConnectionError);
  // The pool listens only to idle connections. One that breaks in the middle of a transaction fails its query, which
  // tells of it; unheard, it would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Does all of the work or none of it; what already runs in a transaction stays in it. */
export async function inTransaction<T>(database: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  return database.isTransaction ? await work(database) : await database.transaction().execute(work);
}

/** Throws when the database does not answer. */
export async function pingDatabase(database: Database): Promise<void> {
  await sql`select 1`.execute(database);
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

/** Whether a row could not be inserted because there is one with its key. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

/** Whether the database, and not the query, is what failed: worth another try a moment later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  const couldNotConnect = "syscall" in error && error.syscall === "connect";
  const lostConnection =
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/.test(
      error.message,
    );
  // 08: the connection, 53: out of resources, 57P: the server was stopped.
  return couldNotConnect || lostConnection || ["ECONNRESET", "EPIPE"].includes(code) || /^(08|53|57P)/.test(code);
}
