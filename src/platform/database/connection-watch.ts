import { setTimeout as wait, setImmediate as yieldToEventLoop } from "node:timers/promises";
import pg from "pg";
import { type DatabaseAddress, locate } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { createDeadConnectionError, createUnavailableError } from "./unavailable.ts";

/**
 * Distinguishes dead connections from slow queries. A network can drop a connection without either end noticing, and no
 * timeout fits: too short for a query that waits for a lock, too long for a caller. So after a second without an answer, a second
 * connection asks the server whether it still works on the query. If it does not, or does not answer, the connection is
 * destroyed, and late packets on its socket are dropped.
 */
export type ConnectionWatch = {
  /** Reads the backend's process id. */
  introduce(client: pg.ClientBase): Promise<void>;
  /** Connects within the limit, then introduces. */
  connect(client: pg.Client): Promise<void>;
  /** Waits for a query. Rejects if the connection is found dead; it is unusable then. */
  await<T>(client: pg.ClientBase, answer: Promise<T>): Promise<T>;
  close(): Promise<void>;
};

type ConnectionWatchOptions = {
  address: DatabaseAddress;
  /** Called after a dead connection was found: idle ones may be dead, too. */
  onDead?(): void;
};

type PendingQuery = { client: pg.ClientBase; sentMs: number; patienceMs: number };

const checkEveryMs = databaseLimits.suspectMs / 4;
const tickMs = 50;

export const connectionOptions = { keepAlive: true, keepAliveInitialDelayMillis: databaseLimits.keepAliveMs } as const;

export function createConnectionWatch({ address, onDead = () => {} }: ConnectionWatchOptions): ConnectionWatch {
  const processIds = new WeakMap<pg.ClientBase, number>();
  const pending = new Set<PendingQuery>();
  let timer: NodeJS.Timeout | null = null;
  const examiner = createExaminer(address);
  let examining: Promise<void> | null = null;
  let isClosed = false;

  function check(): void {
    if (pending.size === 0) stopChecking();
    const suspects = listSuspects();
    if (suspects.length === 0 || examining !== null || isClosed) return;
    examining = examine(suspects).finally(() => {
      examining = null;
    });
  }

  function listSuspects(): PendingQuery[] {
    const nowMs = performance.now();
    return [...pending].filter(({ sentMs, patienceMs }) => nowMs - sentMs >= patienceMs);
  }

  function stopChecking(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  async function examine(suspects: readonly PendingQuery[]): Promise<void> {
    const ids = suspects.map(({ client }) => processIds.get(client)).filter((id) => id !== undefined);
    const working = await examiner.listWorking(ids).catch((error: unknown) => (canAnswer(error) ? new Set(ids) : null));
    // If this process was blocked, answers wait in the sockets: read them first.
    await yieldToEventLoop();
    // A silent server works on no query, so queries that were sent meanwhile are checked, too.
    const suspected = working === null ? listSuspects() : suspects;
    const dead = suspected.filter((query) => pending.has(query) && !isWorking(query, working));
    const which = working === null ? "database" : "connection";
    for (const { client } of dead) destroyConnection(client, createDeadConnectionError(which));
    if (dead.length > 0) onDead();
  }

  function isWorking(query: PendingQuery, working: ReadonlySet<number> | null): boolean {
    const id = processIds.get(query.client);
    if (working === null || id === undefined || !working.has(id)) return false;
    query.patienceMs += Math.min(query.patienceMs, databaseLimits.suspectMsMax);
    return true;
  }

  async function introduce(client: pg.ClientBase): Promise<void> {
    const keepConnection = destroyAfter(client, databaseLimits.connectMsMax);
    try {
      // Not the process id of the handshake: a pooler sends its own.
      const { rows } = await client.query<{ id: number }>("select pg_backend_pid() as id");
      if (rows[0] !== undefined) processIds.set(client, rows[0].id);
      if ("hosts" in address) await address.hosts.accept(client);
    } finally {
      keepConnection();
    }
  }

  return {
    introduce,
    async connect(client) {
      const keepConnection = destroyAfter(client, databaseLimits.connectMsMax);
      try {
        await client.connect();
        await introduce(client);
      } finally {
        keepConnection();
      }
    },
    async await(client, answer) {
      const query = { client, sentMs: performance.now(), patienceMs: databaseLimits.suspectMs };
      pending.add(query);
      timer ??= setInterval(check, checkEveryMs).unref();
      try {
        return await answer;
      } finally {
        pending.delete(query);
      }
    },
    async close() {
      isClosed = true;
      stopChecking();
      examiner.stop();
      await examining;
    },
  };
}

type Examiner = { listWorking(ids: readonly number[]): Promise<ReadonlySet<number>>; stop(): void };

/** Asks the server over a new connection which of these backends are working. */
function createExaminer(address: DatabaseAddress): Examiner {
  let current: pg.Client | null = null;
  return {
    /** Asks twice, because a server under load may just be about to read the query. */
    async listWorking(ids) {
      const client = new pg.Client({ ...locate(address), ...connectionOptions, application_name: "sluice-line-watch" });
      client.on("error", () => {});
      current = client;
      const keepConnection = destroyAfter(client, databaseLimits.examineMsMax);
      try {
        await client.connect();
        const before = await readWorking(client, ids);
        await wait(databaseLimits.answerGraceMs);
        return new Set([...before, ...(await readWorking(client, ids))]);
      } finally {
        keepConnection();
        current = null;
        await closeConnection(client);
      }
    },
    stop() {
      if (current !== null) destroyConnection(current, createUnavailableError("Closed."));
    },
  };
}

/** `state` is null if `track_activities` is off: such backends count as working. */
async function readWorking(client: pg.Client, ids: readonly number[]): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>(
    `select pid as id from pg_stat_activity where pid = any($1) and coalesce(state, 'active') not like 'idle%'`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** A server that rejects a connection with an error code is alive, unless it is stopping or starting (57P). */
function canAnswer(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code);
}

/**
 * Destroys a connection after a time, unless the returned function is called first. Counts ticks, not wall time: a process that
 * was blocked must read waiting answers first.
 */
export function destroyAfter(client: pg.ClientBase, milliseconds: number): () => void {
  let ticksLeft = milliseconds / tickMs;
  const timer = setInterval(() => {
    ticksLeft -= 1;
    if (ticksLeft > 0) return;
    clearInterval(timer);
    destroyConnection(client, createUnavailableError(`The database did not answer within ${milliseconds} ms.`));
  }, tickMs);
  return () => clearInterval(timer);
}

/** Rejects the queries in flight. */
export function destroyConnection(client: pg.ClientBase, reason: Error): void {
  // Pooled clients have a connection, too; their type lacks it.
  (client as pg.Client).connection.stream.destroy(reason);
}

/** Sends Terminate, and destroys the socket if the server does not close it in time. */
export async function closeConnection(client: pg.Client): Promise<void> {
  const late = setTimeout(
    () => destroyConnection(client, createUnavailableError("Closed.")),
    databaseLimits.closeMsMax,
  );
  await client.end().catch(() => {});
  clearTimeout(late);
}
