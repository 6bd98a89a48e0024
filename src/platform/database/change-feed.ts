import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { invariant } from "../../lib/invariant.ts";
import { type DatabaseAddress, serverTimeQuery } from "./database.ts";
import { doubt, locate } from "./database-address.ts";
import type { TimeReading } from "./database-clock.ts";
import { databaseLimits } from "./database-limits.ts";
import { lineOptions } from "./line-watch.ts";
import { nodeSessionName } from "./node-names.ts";

type ChangeListener = {
  onChange(payload: string): void;
  /**
   * Changes may have been missed: forget everything. What is read from now on may be remembered, what was read before
   * may not, even when the read ends only afterwards.
   */
  onReset(): void;
};

/** Hears what others commit, or says that it may not. */
export type ChangeFeed = {
  /**
   * Whether changes are certain to be heard. While false, nobody may trust what they remember. A change that was
   * committed longer than `heartbeatMs + heartbeatTimeoutMs` ago has been heard, or this is false.
   */
  isLive(): boolean;
  /** For how long no outage was noticed; `Infinity` where none ever was. An outage of a second is noticed. */
  liveForMs(): number;
  /** `onChange(payload)` for each notification, in order; `onReset()` after each outage, before `isLive()` is true. */
  subscribe(channel: string, listener: ChangeListener): void;
  /** Nobody is called any more from the moment that this is. */
  close(): Promise<void>;
};

type ChangeFeedOptions = {
  address: DatabaseAddress;
  channels: readonly string[];
  /** Told why the connection was lost or cannot be had (each reason once an outage), and what a listener threw. */
  onTrouble(error: Error): void;
  /** Told the database's time with each heartbeat. */
  onTime?(reading: TimeReading): void;
  /** What others on the database see of it. */
  sessionName?: string;
  heartbeatMs?: number;
  heartbeatTimeoutMs?: number;
  reconnectMs?: number;
};

const { connectMsMax } = databaseLimits;

/** Fails when the first connection does; every later one is tried again for ever. */
export async function openChangeFeed(options: ChangeFeedOptions): Promise<ChangeFeed> {
  const { address, channels, onTrouble, onTime = () => {}, sessionName = nodeSessionName } = options;
  const { heartbeatMs = 250, heartbeatTimeoutMs = 500, reconnectMs = 250 } = options;
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
        // A gateway waits for its database however long it is away, and trusts nothing meanwhile.
        reportOutage(toError(error));
      }
    }
    return null;
  }

  function reportOutage(error: Error): void {
    if (closing.signal.aborted) return;
    doubt(address);
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
        // For this listener the change is as good as missed.
        reset(listener);
      }
    }
  }

  function reset(listener: ChangeListener): void {
    if (closing.signal.aborted) return;
    try {
      listener.onReset();
    } catch (error) {
      // One listener's mistake must not make the others deaf.
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

/** A connection that has LISTENed and goes on proving that it hears. */
type ListeningConnection = {
  /** Whether everything that was committed until a moment ago has been heard here. */
  isProven(): boolean;
  /** Settles with the reason once the connection is of no more use: broken, silent, or closed after the signal. */
  ended: Promise<Error>;
};

type ListeningConnectionOptions = {
  address: DatabaseAddress;
  channels: readonly string[];
  sessionName: string;
  heartbeatMs: number;
  heartbeatTimeoutMs: number;
  signal: AbortSignal;
  onNotification(channel: string, payload: string): void;
  onTime(reading: TimeReading): void;
};

async function openListeningConnection(options: ListeningConnectionOptions): Promise<ListeningConnection> {
  const { address, heartbeatMs, heartbeatTimeoutMs, signal, onTime } = options;
  signal.throwIfAborted();
  // A socket of our own, because pg's goodbye waits for the other side, which may never answer.
  const socket = new Socket();
  const client = new pg.Client({
    ...{ ...locate(address), ...lineOptions },
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
    signal.removeEventListener("abort", hangUp);
    socket.destroy();
    settle(reason);
  }

  function hangUp(): void {
    if (heartbeat === null) {
      end(new Error("Closed while connecting."));
      return;
    }
    deadline = setTimeout(end, heartbeatTimeoutMs, new Error("Closed without an answer."));
    // With a heartbeat on its way, pg would cut the connection and leave the server to find out.
    heartbeat.stop().then(() => client.end());
  }

  async function listen(): Promise<{ askedAt: number }> {
    await client.connect();
    if ("hosts" in address) await address.hosts.accept(client);
    const askedAt = performance.now();
    await client.query(options.channels.map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join("; "));
    return { askedAt };
  }

  client.on("error", end);
  client.on("end", () => end(new Error("The connection ended.")));
  client.on("notification", ({ channel, payload = "" }) => options.onNotification(channel, payload));
  signal.addEventListener("abort", hangUp);
  try {
    const { askedAt } = await Promise.race([listen(), failed]);
    // The end may have come in the same breath as the answer.
    if (!isUsable) throw await ended;
    clearTimeout(deadline);
    const beating = startHeartbeat({
      ...{ client, provenAt: askedAt, heartbeatMs, heartbeatTimeoutMs, onTime },
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
  /** Whether the last proof is young enough. */
  isFresh(): boolean;
  /** Settles when no question is on its way any more. */
  stop(): Promise<void>;
};

type HeartbeatOptions = {
  client: pg.Client;
  provenAt: number;
  heartbeatMs: number;
  heartbeatTimeoutMs: number;
  onSilence(error: Error): void;
  onTime(reading: TimeReading): void;
};

/**
 * Asks the server again and again. Each answer proves that all is heard that was committed before the question, because
 * the server sends the notifications it has before it is ready for another query.
 */
function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { client, heartbeatMs, heartbeatTimeoutMs, onSilence, onTime } = options;
  let { provenAt } = options;
  let isStopped = false;
  let beating = Promise.resolve();
  let timer: NodeJS.Timeout;
  schedule();

  /** The next question counts from the last one, but waits for its answer. */
  function schedule(): void {
    const pauseMs = Math.max(0, provenAt + heartbeatMs - performance.now());
    timer = setTimeout(() => {
      beating = beat();
    }, pauseMs);
  }

  async function beat(): Promise<void> {
    const askedAt = performance.now();
    const giveUp = (): void => {
      if (provenAt < askedAt) onSilence(new Error(`The database did not answer within ${heartbeatTimeoutMs} ms.`));
    };
    // If it was this process that stood still, the answer waits in the socket and is read before the immediate runs.
    timer = setTimeout(() => setImmediate(giveUp), heartbeatTimeoutMs);
    let serverMs: number | undefined;
    try {
      const { rows } = await client.query<{ now_ms: number }>(serverTimeQuery);
      serverMs = rows[0]?.now_ms;
    } catch (error) {
      onSilence(toError(error));
      return;
    }
    if (serverMs !== undefined) onTime({ serverMs, askedMs: askedAt, answeredMs: performance.now() });
    provenAt = askedAt;
    clearTimeout(timer);
    if (!isStopped) schedule();
  }

  return {
    // A proof runs out by itself, so that a process that stood still does not trust what it had before.
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
