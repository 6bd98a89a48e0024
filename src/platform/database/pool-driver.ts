import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from "kysely";
import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import {
  type ConnectionWatch,
  connectionOptions,
  createConnectionWatch,
  destroyAfter,
  destroyConnection,
} from "./connection-watch.ts";
import { type DatabaseAddress, locate, recheckHosts } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import {
  createAbandonedError,
  createUnavailableError,
  isDatabaseUnavailable,
  retryWhileUnavailable,
} from "./unavailable.ts";

export type PoolOptions = {
  address: DatabaseAddress;
  connectionsMax: number;
  /** For idle connections that broke; the pool replaces them. */
  onConnectionError(error: Error): void;
  /** When aborted, all connections are destroyed and no new ones are opened, so that the process can exit. */
  abandoned?: AbortSignal | undefined;
  /** Receives a function that reads the pool's usage. */
  onPool?: ((read: () => PoolUse) => void) | undefined;
};

export type PoolUse = { used: number; idle: number; max: number; waiting: number };

/** A borrowed connection; `client` is `null` after a broken one was released and before it is replaced. */
type PooledConnection = DatabaseConnection & {
  client: pg.PoolClient | null;
  isInTransaction: boolean;
  /** The pool must discard it. */
  isBroken: boolean;
};

/**
 * A Kysely driver on a pg pool. A connection that is broken at the start of a transaction, or in a read outside of one, is replaced
 * and the statement retried while the database is unavailable. Statements that may have had an effect are never retried.
 */
export function createPoolDriver(options: PoolOptions, types: pg.CustomTypesConfig): Driver {
  const { abandoned = new AbortController().signal } = options;
  const watch = createConnectionWatch({ address: options.address, onDead: () => tracked.destroyIdle() });
  const pool = createPool(options, types, watch);
  const tracked = trackConnections(pool);
  options.onPool?.(() => ({
    ...{ used: pool.totalCount - pool.idleCount, idle: pool.idleCount },
    ...{ max: options.connectionsMax, waiting: pool.waitingCount },
  }));
  const destroyAll = (): void => tracked.destroyAll();
  abandoned.addEventListener("abort", destroyAll);

  async function takeClient(): Promise<pg.PoolClient> {
    if (abandoned.aborted) throw createAbandonedError();
    try {
      return await pool.connect();
    } catch (error) {
      if (isDatabaseUnavailable(error)) recheckHosts(options.address);
      throw error;
    }
  }

  async function run(pooled: PooledConnection, text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    const { client } = pooled;
    invariant(client !== null, "a connection that was released");
    try {
      return await watch.await(client, client.query(text, [...values]));
    } catch (error) {
      // Includes connections to a server that accepts no writes any more: another host may.
      if (isDatabaseUnavailable(error)) markBroken(pooled);
      throw error;
    }
  }

  function markBroken(pooled: PooledConnection): void {
    pooled.isBroken = true;
    if (!abandoned.aborted) recheckHosts(options.address);
  }

  /** Retries on another connection while the database is unavailable; only for statements without effects. */
  function runPatiently(pooled: PooledConnection, text: string, values?: readonly unknown[]): Promise<pg.QueryResult> {
    return retryWhileUnavailable(async () => {
      if (pooled.isBroken) release(pooled);
      pooled.client ??= await takeClient();
      return await run(pooled, text, values);
    });
  }

  async function execute<R>(pooled: PooledConnection, query: CompiledQuery): Promise<QueryResult<R>> {
    const mayRepeat = !pooled.isInTransaction && isRead(query);
    const { command, rowCount, rows } = await (mayRepeat ? runPatiently : run)(pooled, query.sql, query.parameters);
    return countedCommands.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  }

  return {
    async init() {},
    acquireConnection: async () => createPooledConnection(await retryWhileUnavailable(takeClient), execute),
    async beginTransaction(connection, settings) {
      const pooled = toPooledConnection(connection);
      await runPatiently(pooled, presentBegin(settings));
      pooled.isInTransaction = true;
    },
    async commitTransaction(connection) {
      await run(toPooledConnection(connection), "commit");
    },
    async rollbackTransaction(connection) {
      const pooled = toPooledConnection(connection);
      // The server rolls back when a connection ends.
      if (!pooled.isBroken) await run(pooled, "rollback");
    },
    releaseConnection: async (connection) => release(toPooledConnection(connection)),
    async destroy() {
      // Running queries get a moment to finish; a silent server must not keep the process from exiting.
      const late = setTimeout(destroyAll, databaseLimits.closeMsMax);
      await Promise.all([pool.end(), tracked.untilNone()]);
      clearTimeout(late);
      abandoned.removeEventListener("abort", destroyAll);
      await watch.close();
    },
  };
}

function createPool(
  { address, connectionsMax, onConnectionError }: PoolOptions,
  types: pg.CustomTypesConfig,
  watch: ConnectionWatch,
): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions,
    Client: createPooledClient(address),
    max: connectionsMax,
    // pg's name for the time to wait for a free connection, new or released. Connecting itself has a shorter limit.
    connectionTimeoutMillis: databaseLimits.queueMsMax,
    statement_timeout: databaseLimits.statementMsMax,
    idle_in_transaction_session_timeout: databaseLimits.idleInTransactionMsMax,
    application_name: "sluice",
    types,
    onConnect: (client) => watch.introduce(client),
  });
  pool.on("error", onConnectionError);
  // pg-pool handles errors of idle connections only. An unhandled error of a borrowed one would end the process; its query
  // rejects with the same error.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

function createPooledClient(address: DatabaseAddress): typeof pg.Client {
  return class PooledClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      // The pool's limit is for waiting, not for connecting. The address may change while the pool lives.
      super({ ...config, ...locate(address), connectionTimeoutMillis: 0 });
      if ("hosts" in address) address.hosts.join(this);
      const keepConnection = destroyAfter(this, databaseLimits.connectMsMax);
      this.once("connect", keepConnection);
      this.once("end", keepConnection);
    }
  };
}

type TrackedConnections = { destroyIdle(): void; destroyAll(): void; untilNone(): Promise<void> };

/** Tracks a pool's connections until their sockets are closed. */
function trackConnections(pool: pg.Pool): TrackedConnections {
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
    destroyIdle() {
      for (const client of idle)
        destroyConnection(client, createUnavailableError("Another connection of the same age was dead."));
    },
    destroyAll() {
      for (const client of clients) destroyConnection(client, createAbandonedError());
    },
    untilNone() {
      isAwaited = true;
      check();
      return none.promise;
    },
  };
}

function createPooledConnection(
  client: pg.PoolClient,
  execute: <R>(pooled: PooledConnection, query: CompiledQuery) => Promise<QueryResult<R>>,
) {
  const pooled: PooledConnection = {
    client,
    isInTransaction: false,
    isBroken: false,
    executeQuery: (query) => execute(pooled, query),
    streamQuery() {
      throw new Error("Streaming is not supported; read pages instead.");
    },
  };
  return pooled;
}

function toPooledConnection(connection: DatabaseConnection): PooledConnection {
  invariant("isBroken" in connection, "a connection of another driver");
  return connection as PooledConnection;
}

function release(pooled: PooledConnection): void {
  pooled.client?.release(pooled.isBroken);
  pooled.client = null;
  pooled.isBroken = false;
}

const countedCommands = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** Safe to repeat. A `select` of a function with effects runs in a transaction, or only sends notifications. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" ? query.with === undefined : /^\s*select\b/i.test(sql);
}

function presentBegin({ isolationLevel, accessMode }: TransactionSettings): string {
  if (isolationLevel === undefined && accessMode === undefined) return "begin";
  return ["start transaction", isolationLevel && `isolation level ${isolationLevel}`, accessMode]
    .filter((word) => word !== undefined)
    .join(" ");
}
