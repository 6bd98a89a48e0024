import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import { closeConnection, connectionOptions, destroyAfter, destroyConnection } from "./connection-watch.ts";
import { type DatabaseAddress, type DatabaseHosts, parseDatabaseUrl } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { createUnavailableError } from "./unavailable.ts";

const readOnlyQuery = `
  select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_read_only`;

export function toDatabaseAddress(url: string): DatabaseAddress {
  const parsed = parseDatabaseUrl(url);
  invariant(parsed !== null, "no address of a database");
  return parsed.servers.length === 1 ? { connectionString: url } : { hosts: createDatabaseHosts(parsed) };
}

type Server = { host: string; url: string };
type Refusal = { host: string; error: unknown };

/**
 * The current server changes only when it accepts no writes and another one does. Then all its connections are destroyed: an old
 * primary that comes back without knowing of the promotion must not get another write.
 */
function createDatabaseHosts({ servers, target }: { servers: Server[]; target: "read-write" | "any" }): DatabaseHosts {
  const members = new Set<pg.ClientBase>();
  let [current] = servers;
  let looking: Promise<void> | null = null;

  async function requireWrites(client: pg.ClientBase): Promise<void> {
    if (target === "any") return;
    const { rows } = await client.query<{ is_read_only: boolean }>(readOnlyQuery);
    if (rows[0]?.is_read_only !== false)
      throw createUnavailableError("It accepts no writes: it is a standby or read-only.");
  }

  /** Tries the current server first. */
  async function findServer(): Promise<Server> {
    const refusals: Refusal[] = [];
    for (const server of [...servers].sort((a, b) => Number(b === current) - Number(a === current))) {
      try {
        await tryServer(server);
        return server;
      } catch (error) {
        refusals.push({ host: server.host, error });
      }
    }
    throw createNoPrimaryError(refusals);
  }

  async function tryServer(server: Server): Promise<void> {
    const client = new pg.Client({
      connectionString: server.url,
      ...connectionOptions,
      application_name: "sluice-host-choice",
    });
    client.on("error", () => {});
    // More time for the current server: a slow answer must not make an old primary that came back the current one.
    const answerMsMax = server === current ? databaseLimits.connectMsMax : databaseLimits.hostMsMax;
    const keepConnection = destroyAfter(client, answerMsMax);
    try {
      await client.connect();
      await requireWrites(client);
    } finally {
      keepConnection();
      await closeConnection(client);
    }
  }

  async function look(): Promise<void> {
    const found = await findServer();
    if (found === current) return;
    current = found;
    const left = [...members];
    members.clear();
    for (const client of left)
      destroyConnection(client, createUnavailableError(`The database is at ${found.host} now.`));
  }

  return {
    current() {
      invariant(current !== undefined, "an address without a host");
      return { connectionString: current.url };
    },
    join(client) {
      members.add(client);
      client.once("end", () => members.delete(client));
    },
    async accept(client) {
      await requireWrites(client);
      if (!members.has(client)) throw createUnavailableError("The database has moved to another host meanwhile.");
    },
    look() {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
  };
}

/** A wrong user, password or database name is reported as it is: it is what you have to fix. */
function createNoPrimaryError(refusals: readonly Refusal[]): unknown {
  const wrong = refusals.find(({ error }) => error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? ""));
  if (wrong !== undefined) return wrong.error;
  const reasons = refusals.map(
    ({ host, error }) => `${host}: ${error instanceof Error ? error.message : String(error)}`,
  );
  return createUnavailableError(`None of its hosts accepts writes (${reasons.join("; ")}).`);
}
