import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import { type DatabaseAddress, type DatabaseHosts, parseDatabaseUrl } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { cutAfter, cutLine, endLine, lineOptions } from "./line-watch.ts";
import { createUnavailable } from "./unavailable.ts";

const readOnlyQuery = `
  select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_read_only`;

/** The address of a database by its URL, which may name several hosts. */
export function toDatabaseAddress(url: string): DatabaseAddress {
  const parsed = parseDatabaseUrl(url);
  invariant(parsed !== null, "no address of a database");
  return parsed.servers.length === 1 ? { connectionString: url } : { hosts: createDatabaseHosts(parsed) };
}

type Server = { host: string; url: string };
type Refusal = { host: string; error: unknown };

/**
 * The current server stays so until another one is found that takes writes while it does not. Only then are its connections
 * cut: a server that was left must not get a write any more, should it come back and not know that another was promoted.
 */
function createDatabaseHosts({ servers, target }: { servers: Server[]; target: "read-write" | "any" }): DatabaseHosts {
  const members = new Set<pg.ClientBase>();
  let [current] = servers;
  let looking: Promise<void> | null = null;

  async function requireWrites(client: pg.ClientBase): Promise<void> {
    if (target === "any") return;
    const { rows } = await client.query<{ is_read_only: boolean }>(readOnlyQuery);
    if (rows[0]?.is_read_only !== false) throw createUnavailable("It takes no writes: it is a standby, or read-only.");
  }

  /** The one that worked last comes first. */
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
    throw explainNone(refusals);
  }

  async function tryServer(server: Server): Promise<void> {
    const client = new pg.Client({
      connectionString: server.url,
      ...lineOptions,
      application_name: "sluice-host-choice",
    });
    client.on("error", () => {});
    // The one in use is not left because it is slow: an old primary that came back may be the next to be asked.
    const answerMsMax = server === current ? databaseLimits.connectMsMax : databaseLimits.hostMsMax;
    const preventCut = cutAfter(client, answerMsMax);
    try {
      await client.connect();
      await requireWrites(client);
    } finally {
      preventCut();
      await endLine(client);
    }
  }

  async function look(): Promise<void> {
    const found = await findServer();
    if (found === current) return;
    current = found;
    const left = [...members];
    members.clear();
    for (const client of left) cutLine(client, createUnavailable(`The database is at ${found.host} now.`));
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
      if (!members.has(client)) throw createUnavailable("The database has moved to another host meanwhile.");
    },
    look() {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
  };
}

/** One that refuses user, password or database is what has to be mended; otherwise nobody takes writes. */
function explainNone(refusals: readonly Refusal[]): unknown {
  const wrong = refusals.find(({ error }) => error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? ""));
  if (wrong !== undefined) return wrong.error;
  const reasons = refusals.map(
    ({ host, error }) => `${host}: ${error instanceof Error ? error.message : String(error)}`,
  );
  return createUnavailable(`None of its hosts takes writes (${reasons.join("; ")}).`);
}
