import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from "kysely";
import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import { type DatabaseAddress, doubt, locate } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { createLineWatch, cutAfter, cutLine, type LineWatch, lineOptions } from "./line-watch.ts";
import { createGivenUp, createUnavailable, isDatabaseUnavailable, retryWhileAway } from "./unavailable.ts";

type PoolDriverOptions = {
  address: DatabaseAddress;
  connectionsMax: number;
  types: pg.CustomTypesConfig;
  /** Told of connections that broke while idle; the pool replaces them by itself. */
  onConnectionError(error: Error): void;
  /** When it says so, every connection is cut and none is made any more. */
  abandoned: AbortSignal;
  /** Handed what tells how the pool is used. */
  onPool?(read: () => PoolUse): void;
};

/** How many connections are lent out, are there to be lent, may be there at the most, and are waited for. */
export type PoolUse = { used: number; idle: number; max: number; waiting: number };

/** A connection of the pool while somebody has it; `null` when it was given back and there is no other yet. */
type Line = DatabaseConnection & {
  client: pg.PoolClient | null;
  isInTransaction: boolean;
  /** Nobody else shall have it. */
  isSpoilt: boolean;
};

/**
 * Lends connections. Where one turns out to be broken before anything was done on it (at the beginning of a transaction, or
 * by a read outside of one), another takes its place, for as long as a database that is away is waited for. What may have
 * happened is never sent again here.
 */
export function createPoolDriver(options: PoolDriverOptions): Driver {
  const { abandoned } = options;
  const watch = createLineWatch({ address: options.address, onDead: () => lines.cutIdle() });
  const pool = createPool(options, watch);
  const lines = keepLines(pool);
  options.onPool?.(() => ({
    ...{ used: pool.totalCount - pool.idleCount, idle: pool.idleCount },
    ...{ max: options.connectionsMax, waiting: pool.waitingCount },
  }));
  const cutAll = (): void => lines.cutAll();
  abandoned.addEventListener("abort", cutAll);

  async function takeClient(): Promise<pg.PoolClient> {
    if (abandoned.aborted) throw createGivenUp();
    try {
      return await pool.connect();
    } catch (error) {
      if (isDatabaseUnavailable(error)) doubt(options.address);
      throw error;
    }
  }

  async function run(line: Line, text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    const { client } = line;
    invariant(client !== null, "a connection that was given back");
    try {
      return await watch.await(client, client.query(text, [...values]));
    } catch (error) {
      // Also one to a server that takes no writes any more, while another does.
      if (isDatabaseUnavailable(error)) spoil(line);
      throw error;
    }
  }

  function spoil(line: Line): void {
    line.isSpoilt = true;
    if (!abandoned.aborted) doubt(options.address);
  }

  /** Runs again what changes nothing, on another connection, while the database is away. */
  function runPatiently(line: Line, text: string, values?: readonly unknown[]): Promise<pg.QueryResult> {
    return retryWhileAway(async () => {
      if (line.isSpoilt) giveBack(line);
      line.client ??= await takeClient();
      return await run(line, text, values);
    });
  }

  async function execute<R>(line: Line, query: CompiledQuery): Promise<QueryResult<R>> {
    const mayRepeat = !line.isInTransaction && isRead(query);
    const { command, rowCount, rows } = await (mayRepeat ? runPatiently : run)(line, query.sql, query.parameters);
    return countedCommands.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  }

  return {
    async init() {},
    acquireConnection: async () => createLine(await retryWhileAway(takeClient), execute),
    async beginTransaction(connection, settings) {
      const line = toLine(connection);
      await runPatiently(line, presentBegin(settings));
      line.isInTransaction = true;
    },
    async commitTransaction(connection) {
      await run(toLine(connection), "commit");
    },
    async rollbackTransaction(connection) {
      const line = toLine(connection);
      // The server does so by itself when a connection ends.
      if (!line.isSpoilt) await run(line, "rollback");
    },
    releaseConnection: async (connection) => giveBack(toLine(connection)),
    async destroy() {
      // Whoever is at work has a moment to end it; a server that says nothing must not keep the process from ending.
      const late = setTimeout(cutAll, databaseLimits.goodbyeMsMax);
      await Promise.all([pool.end(), lines.untilNone()]);
      clearTimeout(late);
      abandoned.removeEventListener("abort", cutAll);
      await watch.close();
    },
  };
}

function createPool(
  { address, connectionsMax, types, onConnectionError }: PoolDriverOptions,
  watch: LineWatch,
): pg.Pool {
  const pool = new pg.Pool({
    ...lineOptions,
    Client: createPooledClient(address),
    max: connectionsMax,
    // The pool's word for the time to wait for a connection, be it new or somebody's. To connect has less.
    connectionTimeoutMillis: databaseLimits.queueMsMax,
    statement_timeout: databaseLimits.statementMsMax,
    idle_in_transaction_session_timeout: databaseLimits.idleInTransactionMsMax,
    application_name: "sluice",
    types,
    onConnect: (client) => watch.introduce(client),
  });
  pool.on("error", onConnectionError);
  // The pool listens only to idle connections. One that breaks in the middle of a transaction fails its query, which
  // tells of it; unheard, it would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

function createPooledClient(address: DatabaseAddress): typeof pg.Client {
  return class PooledClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      // The pool's limit is for waiting, not for connecting; and where the database is may change in the life of a pool.
      super({ ...config, ...locate(address), connectionTimeoutMillis: 0 });
      if ("hosts" in address) address.hosts.join(this);
      const preventCut = cutAfter(this, databaseLimits.connectMsMax);
      this.once("connect", preventCut);
      this.once("end", preventCut);
    }
  };
}

type Lines = { cutIdle(): void; cutAll(): void; untilNone(): Promise<void> };

/** Knows a pool's connections until their sockets are closed. */
function keepLines(pool: pg.Pool): Lines {
  const clients = new Set<pg.ClientBase>();
  const idle = new Set<pg.ClientBase>();
  const none = Promise.withResolvers<void>();
  let isAwaited = false;
  const check = (): void => {
    if (isAwaited && clients.size === 0) none.resolve();
  };
  pool.on("connect", (client) => void clients.add(client));
  pool.on("acquire", (client) => void idle.delete(client));
  pool.on("release", (_error, client) => void idle.add(client));
  pool.on("remove", (client) => {
    clients.delete(client);
    idle.delete(client);
    check();
  });
  return {
    cutIdle() {
      for (const client of idle) cutLine(client, createUnavailable("Another connection of the same age was dead."));
    },
    cutAll() {
      for (const client of clients) cutLine(client, createGivenUp());
    },
    untilNone() {
      isAwaited = true;
      check();
      return none.promise;
    },
  };
}

function createLine(client: pg.PoolClient, execute: <R>(line: Line, query: CompiledQuery) => Promise<QueryResult<R>>) {
  const line: Line = {
    client,
    isInTransaction: false,
    isSpoilt: false,
    executeQuery: (query) => execute(line, query),
    streamQuery() {
      throw new Error("Rows are read by pages.");
    },
  };
  return line;
}

function toLine(connection: DatabaseConnection): Line {
  invariant("isSpoilt" in connection, "a connection of another driver");
  return connection as Line;
}

function giveBack(line: Line): void {
  line.client?.release(line.isSpoilt);
  line.client = null;
  line.isSpoilt = false;
}

const countedCommands = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** A question that may be asked twice. What changes anything by a function does so in a transaction, or only wakes others up. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" ? query.with === undefined : /^\s*select\b/i.test(sql);
}

function presentBegin({ isolationLevel, accessMode }: TransactionSettings): string {
  if (isolationLevel === undefined && accessMode === undefined) return "begin";
  return ["start transaction", isolationLevel && `isolation level ${isolationLevel}`, accessMode]
    .filter((word) => word !== undefined)
    .join(" ");
}
