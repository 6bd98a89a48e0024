import { setImmediate as turnLoop, setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { type DatabaseAddress, locate } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { createDeadLine, createUnavailable } from "./unavailable.ts";

/**
 * Tells connections that are dead from queries that are slow. A network can lose a connection without telling either end;
 * then a query waits for ever, and no limit would be right: too short for a lock that is waited for, too long for a caller.
 * So a query that is not answered for a second is looked into: another connection asks the server whether it is still at
 * work on it. If it is not, or cannot be asked, the connection is cut, and whatever comes by it later meets nobody.
 */
export type LineWatch = {
  /** Learns which of the server's processes is at the other end. */
  introduce(client: pg.ClientBase): Promise<void>;
  /** Connects, in time or not at all, and introduces. */
  connect(client: pg.Client): Promise<void>;
  /** Waits for the answer to a query. Rejects, and the connection is of no more use, when there will be none. */
  await<T>(client: pg.ClientBase, query: Promise<T>): Promise<T>;
  close(): Promise<void>;
};

type LineWatchOptions = {
  address: DatabaseAddress;
  /** Told when a connection was found dead: others of its age may be, too. */
  onDead?(): void;
};

type Question = { client: pg.ClientBase; askedMs: number; patienceMs: number };

const lookEveryMs = databaseLimits.suspectMs / 4;
const tickMs = 50;

/** What every connection to the database has. */
export const lineOptions = { keepAlive: true, keepAliveInitialDelayMillis: databaseLimits.keepAliveMs } as const;

export function createLineWatch({ address, onDead = () => {} }: LineWatchOptions): LineWatch {
  const processIds = new WeakMap<pg.ClientBase, number>();
  const questions = new Set<Question>();
  let timer: NodeJS.Timeout | null = null;
  const examiner = createExaminer(address);
  let examining: Promise<void> | null = null;
  let isClosed = false;

  function look(): void {
    if (questions.size === 0) {
      stopLooking();
      return;
    }
    const suspects = listSuspects();
    if (suspects.length === 0 || examining !== null || isClosed) return;
    examining = examine(suspects).finally(() => {
      examining = null;
    });
  }

  function listSuspects(): Question[] {
    const nowMs = performance.now();
    return [...questions].filter(({ askedMs, patienceMs }) => nowMs - askedMs >= patienceMs);
  }

  function stopLooking(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  async function examine(suspects: readonly Question[]): Promise<void> {
    const ids = suspects.map(({ client }) => processIds.get(client)).filter((id) => id !== undefined);
    const working = await examiner.listWorking(ids).catch((error: unknown) => (canAnswer(error) ? new Set(ids) : null));
    // If it was this process that stood still, answers wait in the sockets and are read first.
    await turnLoop();
    // A server that cannot be asked is not at work on what was asked meanwhile, either.
    const suspected = working === null ? listSuspects() : suspects;
    const dead = suspected.filter((question) => questions.has(question) && !isWorking(question, working));
    for (const { client } of dead) cutLine(client, createDeadLine(working === null ? "database" : "line"));
    if (dead.length > 0) onDead();
  }

  function isWorking(question: Question, working: ReadonlySet<number> | null): boolean {
    const id = processIds.get(question.client);
    if (working === null || id === undefined || !working.has(id)) return false;
    question.patienceMs += Math.min(question.patienceMs, databaseLimits.suspectMsMax);
    return true;
  }

  async function introduce(client: pg.ClientBase): Promise<void> {
    const preventCut = cutAfter(client, databaseLimits.connectMsMax);
    try {
      // Not the number that came with the connection: a pooler in between tells one of its own.
      const { rows } = await client.query<{ id: number }>("select pg_backend_pid() as id");
      if (rows[0] !== undefined) processIds.set(client, rows[0].id);
      if ("hosts" in address) await address.hosts.accept(client);
    } finally {
      preventCut();
    }
  }

  return {
    introduce,
    async connect(client) {
      const preventCut = cutAfter(client, databaseLimits.connectMsMax);
      try {
        await client.connect();
        await introduce(client);
      } finally {
        preventCut();
      }
    },
    async await(client, query) {
      const question = { client, askedMs: performance.now(), patienceMs: databaseLimits.suspectMs };
      questions.add(question);
      timer ??= setInterval(look, lookEveryMs).unref();
      try {
        return await query;
      } finally {
        questions.delete(question);
      }
    },
    async close() {
      isClosed = true;
      stopLooking();
      examiner.stop();
      await examining;
    },
  };
}

type Examiner = { listWorking(ids: readonly number[]): Promise<ReadonlySet<number>>; stop(): void };

/** Asks the server, by a connection made for it, which of these processes of its are at work. */
function createExaminer(address: DatabaseAddress): Examiner {
  let current: pg.Client | null = null;
  return {
    /** Twice, a moment apart, because a server under load may only just have read the query. */
    async listWorking(ids) {
      const client = new pg.Client({ ...locate(address), ...lineOptions, application_name: "sluice-line-watch" });
      client.on("error", () => {});
      current = client;
      const preventCut = cutAfter(client, databaseLimits.examineMsMax);
      try {
        await client.connect();
        const before = await readWorking(client, ids);
        await wait(databaseLimits.answerGraceMs);
        return new Set([...before, ...(await readWorking(client, ids))]);
      } finally {
        preventCut();
        current = null;
        await endLine(client);
      }
    },
    stop() {
      if (current !== null) cutLine(current, createUnavailable("Closed."));
    },
  };
}

/** Which of the server's processes are at work, or may be: not every server tells. */
async function readWorking(client: pg.Client, ids: readonly number[]): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>(
    `select pid as id from pg_stat_activity where pid = any($1) and coalesce(state, 'active') not like 'idle%'`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** A server that refuses a connection in its own words is there. One that stops or starts has no queries any more. */
function canAnswer(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code);
}

/**
 * Cuts a connection on which nothing has come of something by then. Answers how to prevent it. Only time in which this process
 * was awake counts: one that stood still has answers to read first.
 */
export function cutAfter(client: pg.ClientBase, milliseconds: number): () => void {
  let ticksLeft = milliseconds / tickMs;
  const timer = setInterval(() => {
    ticksLeft -= 1;
    if (ticksLeft > 0) return;
    clearInterval(timer);
    cutLine(client, createUnavailable(`The database did not answer within ${milliseconds} ms.`));
  }, tickMs);
  return () => clearInterval(timer);
}

/** Fails whatever waits for the connection. */
export function cutLine(client: pg.ClientBase, reason: Error): void {
  // Every connection has one; the type for those of a pool does not say so.
  (client as pg.Client).connection.stream.destroy(reason);
}

/** Says goodbye, and does not wait for ever for it to be heard. */
export async function endLine(client: pg.Client): Promise<void> {
  const late = setTimeout(() => cutLine(client, createUnavailable("Closed.")), databaseLimits.goodbyeMsMax);
  await client.end().catch(() => {});
  clearTimeout(late);
}
