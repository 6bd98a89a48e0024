import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import { connectionOptions } from "./connection-watch.ts";
import { type DatabaseAddress, serverTimeQuery } from "./database.ts";
import { locate, recheckHosts } from "./database-address.ts";
import type { TimeReading } from "./database-clock.ts";
import { databaseLimits } from "./database-limits.ts";
import { nodeSessionName } from "./node-names.ts";

type ChangeListener = {
  onChange(payload: string): void;
  /**
   * Notifications may have been lost: drop everything cached. Reads that start from now on may be cached; reads that started
   * earlier may not, even if they finish later.
   */
  onReset(): void;
};

/** Receives `pg_notify` of all nodes, and knows when it may have missed some. */
export type ChangeFeed = {
  /**
   * While false, bypass caches. While true, every change that was committed longer than `heartbeatMs + heartbeatTimeoutMs`
   * ago has been received.
   */
  isLive(): boolean;
  /** Time since the last outage; `Infinity` if there was none. Outages of a second or longer are noticed. */
  liveForMs(): number;
  /** `onChange(payload)` for each notification, in order; `onReset()` after each outage, before `isLive()` is true. */
  subscribe(channel: string, listener: ChangeListener): void;
  /** No listener is called after this was called. */
  close(): Promise<void>;
};

type ChangeFeedOptions = {
  address: DatabaseAddress;
  channels: readonly string[];
  /** Connection errors (each message once per outage), and exceptions of listeners. */
  onTrouble(error: Error): void;
  /** With each heartbeat. */
  onTime?(reading: TimeReading): void;
  /** The `application_name` that other nodes see. */
  sessionName?: string;
  heartbeatMs?: number;
  heartbeatTimeoutMs?: number;
  reconnectMs?: number;
};

const { connectMsMax } = databaseLimits;
/** A revoked key stops working after their sum at the latest: it is less than a second. */
const defaults = { heartbeatMs: 450, timeoutMs: 500 };

/** Rejects if the first connection fails; later ones are retried until the feed is closed. */
export async function openChangeFeed(options: ChangeFeedOptions): Promise<ChangeFeed> {
  const { address, channels, onTrouble, onTime = () => {}, sessionName = nodeSessionName } = options;
  const { heartbeatMs = defaults.heartbeatMs, heartbeatTimeoutMs = defaults.timeoutMs, reconnectMs = 250 } = options;
  const listeners = new Map<string, ChangeListener[]>(channels.map((channel) => [channel, []]));
  const closing = new AbortController();
  let lastTrouble: string | null = null;
  let live: ListeningConnection | null = await connect();
  let liveSinceMs = Number.NEGATIVE_INFINITY;
  const supervising = supervise(live);

  function connect(): Promise<ListeningConnection> {
    const { signal } = closing;
    return openListeningConnection({
      ...{ address, channels, sessionName, heartbeatMs, heartbeatTimeoutMs, signal, onNotification, onTime },
    });
  }

  async function supervise(first: ListeningConnection): Promise<void> {
    let connection: ListeningConnection | null = first;
    while (connection !== null) {
      const reason = await connection.ended;
      live = null;
      reportOutage(reason);
      connection = await reconnect();
      for (const listener of [...listeners.values()].flat()) reset(listener);
      live = connection;
      liveSinceMs = performance.now();
      lastTrouble = null;
    }
  }

  /** `null` when the feed was closed. */
  async function reconnect(): Promise<ListeningConnection | null> {
    while (!closing.signal.aborted) {
      try {
        await wait(reconnectMs, undefined, { signal: closing.signal });
        return await connect();
      } catch (error) {
        // A gateway waits for its database without a limit, and bypasses its caches meanwhile.
        reportOutage(toError(error));
      }
    }
    return null;
  }

  function reportOutage(error: Error): void {
    if (closing.signal.aborted) return;
    recheckHosts(address);
    if (error.message === lastTrouble) return;
    lastTrouble = error.message;
    onTrouble(error);
  }

  function onNotification(channel: string, payload: string): void {
    for (const listener of listeners.get(channel) ?? []) {
      if (closing.signal.aborted) return;
      try {
        listener.onChange(payload);
      } catch (error) {
        onTrouble(toError(error));
        // This listener has missed the change.
        reset(listener);
      }
    }
  }

  function reset(listener: ChangeListener): void {
    if (closing.signal.aborted) return;
    try {
      listener.onReset();
    } catch (error) {
      // One listener's exception must not stop the others.
      onTrouble(toError(error));
    }
  }

  const isLive = (): boolean => !closing.signal.aborted && live?.isProven() === true;
  return {
    isLive,
    liveForMs: () => (isLive() ? performance.now() - liveSinceMs : 0),
    subscribe(channel, listener) {
      const others = listeners.get(channel);
      invariant(others !== undefined, `the change feed does not listen on ${channel}`);
      others.push(listener);
    },
    async close() {
      closing.abort();
      await supervising;
    },
  };
}

/** A connection that LISTENs and sends heartbeats. */
type ListeningConnection = {
  /** Whether a recent heartbeat was answered. */
  isProven(): boolean;
  /** Resolves with the reason when the connection is broken, silent, or closed after the signal. */
  ended: Promise<Error>;
};

type ListeningConnectionOptions = Required<Omit<ChangeFeedOptions, "onTrouble" | "reconnectMs">> & {
  signal: AbortSignal;
  onNotification(channel: string, payload: string): void;
};

async function openListeningConnection(options: ListeningConnectionOptions): Promise<ListeningConnection> {
  const { address, heartbeatMs, heartbeatTimeoutMs, signal, onTime } = options;
  signal.throwIfAborted();
  // Our own socket, so that we can destroy it: `client.end()` waits for the server, which may never answer.
  const socket = new Socket();
  const client = new pg.Client({
    ...{ ...locate(address), ...connectionOptions },
    stream: () => socket,
    application_name: options.sessionName,
  });
  if ("hosts" in address) address.hosts.join(client);
  const { promise: ended, resolve: settle } = Promise.withResolvers<Error>();
  const failed = ended.then((reason) => Promise.reject(reason));
  const tooLate = new Error(`The database did not accept a connection within ${connectMsMax} ms.`);
  let deadline = setTimeout(end, connectMsMax, tooLate);
  let heartbeat: Heartbeat | null = null;
  let isUsable = true;

  function end(reason: Error): void {
    isUsable = false;
    clearTimeout(deadline);
    heartbeat?.stop();
    signal.removeEventListener("abort", close);
    socket.destroy();
    settle(reason);
  }

  function close(): void {
    if (heartbeat === null) {
      end(new Error("Closed while connecting."));
      return;
    }
    deadline = setTimeout(end, heartbeatTimeoutMs, new Error("Closed without an answer."));
    // While a heartbeat is in flight, pg would destroy the socket instead of sending Terminate.
    heartbeat.stop().then(() => client.end());
  }

  async function listen(): Promise<{ sentAt: number }> {
    await client.connect();
    if ("hosts" in address) await address.hosts.accept(client);
    const sentAt = performance.now();
    await client.query(options.channels.map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join("; "));
    return { sentAt };
  }

  client.on("error", end);
  client.on("end", () => end(new Error("The connection ended.")));
  client.on("notification", ({ channel, payload = "" }) => options.onNotification(channel, payload));
  signal.addEventListener("abort", close);
  try {
    const { sentAt } = await Promise.race([listen(), failed]);
    // The connection may have ended in the same tick as the answer arrived.
    if (!isUsable) throw await ended;
    clearTimeout(deadline);
    const beating = startHeartbeat({
      ...{ client, provenAt: sentAt, heartbeatMs, heartbeatTimeoutMs, onTime },
      onSilence: end,
    });
    heartbeat = beating;
    return { isProven: () => isUsable && beating.isFresh(), ended };
  } catch (error) {
    end(toError(error));
    throw error;
  }
}

type Heartbeat = {
  isFresh(): boolean;
  /** Resolves when no heartbeat is in flight. */
  stop(): Promise<void>;
};

type HeartbeatOptions = Pick<ListeningConnectionOptions, "heartbeatMs" | "heartbeatTimeoutMs" | "onTime"> & {
  client: pg.Client;
  provenAt: number;
  onSilence(error: Error): void;
};

/**
 * Queries the server periodically. Each answer proves that every notification committed before the query has arrived, because
 * the server sends pending notifications before it is ready for another query.
 */
function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { client, heartbeatMs, heartbeatTimeoutMs, onSilence, onTime } = options;
  let { provenAt } = options;
  let isStopped = false;
  let beating = Promise.resolve();
  let timer: NodeJS.Timeout;
  schedule();

  /** The interval counts from the last query; the next one waits for its answer. */
  function schedule(): void {
    const pauseMs = Math.max(0, provenAt + heartbeatMs - performance.now());
    timer = setTimeout(() => {
      beating = beat();
    }, pauseMs);
  }

  async function beat(): Promise<void> {
    const sentAt = performance.now();
    const giveUp = (): void => {
      if (provenAt < sentAt) onSilence(new Error(`The database did not answer within ${heartbeatTimeoutMs} ms.`));
    };
    // If this process was blocked, the answer waits in the socket and is read before the immediate runs.
    timer = setTimeout(() => setImmediate(giveUp), heartbeatTimeoutMs);
    let serverMs: number | undefined;
    try {
      const { rows } = await client.query<{ now_ms: number }>(serverTimeQuery);
      serverMs = rows[0]?.now_ms;
    } catch (error) {
      onSilence(toError(error));
      return;
    }
    if (serverMs !== undefined) onTime({ serverMs, askedMs: sentAt, answeredMs: performance.now() });
    provenAt = sentAt;
    clearTimeout(timer);
    if (!isStopped) schedule();
  }

  return {
    // Expires by time, so a process that was blocked or suspended does not trust its caches.
    isFresh: () => performance.now() - provenAt <= heartbeatMs + heartbeatTimeoutMs,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return beating;
    },
  };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
