import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { OperatorError } from "../errors/operator-error.ts";
import {
  createDatabase,
  type Database,
  type DatabaseAddress,
  readServerVersion,
  toDatabaseAddress,
} from "./database.ts";
import { parseDatabaseUrl, type ServerAddress } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { joinEmbeddedPostgres, openEmbeddedPostgres } from "./embedded/embedded-postgres.ts";
import type { PoolOptions } from "./pool-driver.ts";
import { isDatabaseUnavailable } from "./unavailable.ts";

export type OpenDatabase = {
  database: Database;
  /** For connections beside the pool. */
  address: DatabaseAddress;
  /** Ends the connections, then the embedded server if it is ours. */
  close(): Promise<void>;
};

type OpenDatabaseOptions = Omit<PoolOptions, "address"> & {
  /** An external PostgreSQL; the embedded one in `dataDir` if undefined. */
  url: string | undefined;
  dataDir: string;
  /** Where the embedded server puts WAL segments to be archived. */
  logSpool?: string | undefined;
  /** `process`: of a gateway whose supervisor runs the embedded server. */
  purpose: "gateway" | "process" | "command";
  onProgress(sentence: string): void;
  onLost(error: Error): void;
  /** How long to wait for an unavailable external database; 0 by default. */
  startTimeoutMs?: number | undefined;
};

const serverVersionMin = 15;

export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenDatabase> {
  return options.url === undefined ? openEmbedded(options) : openExternal(options, options.url);
}

async function openEmbedded(options: OpenDatabaseOptions): Promise<OpenDatabase> {
  const { dataDir, logSpool, purpose, onProgress, onConnectionError, onLost } = options;
  const server =
    purpose === "process"
      ? await joinEmbeddedPostgres(dataDir)
      : await openEmbeddedPostgres({ dataDir, logSpool, purpose, onProgress, onLost });
  const database = createDatabase({ ...options, address: server.address });
  const close = async (): Promise<void> => {
    await database.destroy();
    await server.close();
  };
  try {
    await createIfMissing(database, server.address, onConnectionError);
  } catch (error) {
    await close();
    throw error;
  }
  return { database, address: server.address, close };
}

/** On the first start the server has no database yet. */
async function createIfMissing(
  database: Database,
  address: ServerAddress,
  onConnectionError: (error: Error) => void,
): Promise<void> {
  try {
    await sql`select 1`.execute(database);
  } catch (error) {
    if (getCode(error) !== "3D000") throw error;
    const there = { ...address, database: "postgres" };
    const maintenance = createDatabase({ address: there, connectionsMax: 1, onConnectionError });
    try {
      await sql`create database sluice`.execute(maintenance);
    } catch (creationError) {
      // Another first command has just created it.
      if (!["42P04", "23505"].includes(getCode(creationError))) throw creationError;
    } finally {
      await maintenance.destroy();
    }
  }
}

async function openExternal(options: OpenDatabaseOptions, url: string): Promise<OpenDatabase> {
  const address = toDatabaseAddress(url);
  const database = createDatabase({ ...options, address });
  try {
    const version = await awaitServer({ database, address }, options, url);
    if (Number.parseInt(version, 10) < serverVersionMin) {
      throw new OperatorError(
        `The database is PostgreSQL ${version}.`,
        `Use PostgreSQL ${serverVersionMin} or later, or unset DATABASE_URL for the embedded one.`,
      );
    }
  } catch (error) {
    await database.destroy();
    throw explainConnectionError(error, url);
  }
  return { database, address, close: () => database.destroy() };
}

/** Waits until the server answers, and returns its version. Reports each failed try. */
async function awaitServer(
  { database, address }: { database: Database; address: DatabaseAddress },
  { startTimeoutMs = 0, onProgress }: OpenDatabaseOptions,
  url: string,
): Promise<string> {
  const deadlineMs = performance.now() + startTimeoutMs;
  for (;;) {
    try {
      if ("hosts" in address) await address.hosts.look();
      return await readServerVersion(database);
    } catch (error) {
      const leftMs = deadlineMs - performance.now();
      if (!isDatabaseUnavailable(error) || leftMs <= 0) throw error;
      const { message } = explainConnectionError(error, url);
      onProgress(`${message} Trying again for ${Math.ceil(leftMs / 1000)} s.`);
      await wait(Math.min(databaseLimits.startRetryMs, leftMs));
    }
  }
}

/** Leaves out the URL, which contains a password. */
function explainConnectionError(error: unknown, url: string): OperatorError {
  if (error instanceof OperatorError) return error;
  const host = parseDatabaseUrl(url)
    ?.servers.map(({ host }) => host)
    .join(", ");
  const reasons: Record<string, [string, string]> = {
    ECONNREFUSED: ["Nothing answers there.", "Start PostgreSQL, or correct host and port."],
    ENOTFOUND: ["There is no such host.", "Correct the host."],
    EAI_AGAIN: ["The host's address could not be looked up.", "Check the network and the host's name."],
    "28P01": ["It refuses user or password.", "Correct user and password."],
    "28000": ["It refuses this user.", "Correct the user, or allow it in pg_hba.conf."],
    "3D000": ["It has no database of that name.", "Create the database, or correct its name."],
    "53300": ["It has no free connection.", "Raise its max_connections, or lower database_connections."],
  };
  const [reason, remedy] = reasons[getCode(error)] ?? [
    error instanceof Error ? error.message : String(error),
    "Check that it runs and that this machine may connect.",
  ];
  return new OperatorError(`The database at ${host} cannot be used. ${reason}`, `${remedy} (DATABASE_URL)`, {
    cause: error,
  });
}

function getCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
