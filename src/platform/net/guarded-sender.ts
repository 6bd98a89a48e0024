import { Socket } from "node:net";
import { Client } from "undici";
import type { Clock } from "../../lib/clock.ts";
import { checkPublicUrl, getHost } from "./check-public-url.ts";
import {
  type ConnectionGuard,
  type ConnectionGuardParts,
  createConnectionGuard,
  GuardedFetchError,
} from "./guarded-connector.ts";
import { createUpstreamCaller, type UpstreamCall, type UpstreamError, type UpstreamHeaders } from "./upstream-call.ts";

/**
 * Sends to URLs that strangers give us, under the same guard as what is fetched from them, and keeps connections for
 * what follows soon. The peer of a kept connection was checked when it was opened, and cannot become another one.
 */
export type GuardedSender = {
  /**
   * Whatever the status is; no redirect is followed. Throws a `GuardedFetchError` where there is no answer, or the
   * reason of the caller's signal when that ends it.
   */
  post(url: string, request: GuardedRequest): Promise<GuardedAnswer>;
  /** Ends what is under way, and all connections. */
  close(): Promise<void>;
};

type GuardedRequest = {
  headers: Readonly<Record<string, string>>;
  body: string;
  /** For everything together, from the name's lookup to the end. */
  timeoutMs: number;
  signal: AbortSignal;
};

export type GuardedAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** The beginning of the body: what came within some bytes and a moment. */
  bytes: Buffer;
};

type GuardedSenderParts = ConnectionGuardParts & {
  clock: Clock;
  answerBytesMax: number;
  idleMs?: number;
  bodyMs?: number;
};

type Connection = { client: Client; socket: Socket | null; origin: string };

const idleMsUsual = 4000;
const idleConnectionsMax = 256;
const headerBytesMax = 16 * 1024;
/** The status tells the outcome, so nobody waits long for the rest. */
const bodyMsUsual = 1000;

export function createGuardedSender(parts: GuardedSenderParts): GuardedSender {
  const guard = createConnectionGuard(parts);
  const connections = new Set<Connection>();
  const idle = new Map<string, Connection[]>();
  const closing = new AbortController();
  let idleCount = 0;

  function takeIdle(origin: string): Connection | null {
    const connection = idle.get(origin)?.at(-1) ?? null;
    if (connection !== null) forgetIdle(connection);
    return connection;
  }

  function forgetIdle(connection: Connection): void {
    const others = idle.get(connection.origin) ?? [];
    const index = others.indexOf(connection);
    if (index < 0) return;
    others.splice(index, 1);
    idleCount -= 1;
    if (others.length === 0) idle.delete(connection.origin);
  }

  async function drop(connection: Connection): Promise<void> {
    connections.delete(connection);
    forgetIdle(connection);
    const dropped = connection.client.destroy();
    // The client itself would let an attempt to connect go on to its end.
    connection.socket?.destroy();
    await dropped;
  }

  function release(connection: Connection, isReusable: boolean): void {
    if (!isReusable || closing.signal.aborted || idleCount >= idleConnectionsMax) {
      void drop(connection);
      return;
    }
    idleCount += 1;
    const others = idle.get(connection.origin);
    if (others === undefined) idle.set(connection.origin, [connection]);
    else others.push(connection);
  }

  async function open(url: URL, signal: AbortSignal): Promise<Connection> {
    const connection = createConnection(guard, await guard.findAddresses(getHost(url), signal), {
      origin: url.origin,
      idleMs: parts.idleMs ?? idleMsUsual,
      onIdleEnd: (ended) => {
        if (idle.get(ended.origin)?.includes(ended)) void drop(ended);
      },
    });
    // The lookup took time, in which the end may have come.
    signal.throwIfAborted();
    connections.add(connection);
    return connection;
  }

  function send(connection: Connection, url: URL, request: GuardedRequest, signal: AbortSignal) {
    return exchange(connection.client, url, request, {
      ...parts,
      signal,
      onOver: (isReusable) => release(connection, isReusable),
    });
  }

  async function sendWithin(url: URL, request: GuardedRequest, signal: AbortSignal): Promise<GuardedAnswer> {
    const kept = takeIdle(url.origin);
    if (kept !== null) {
      try {
        return await send(kept, url, request, signal);
      } catch (error) {
        // The receiver may have closed the connection at the moment that it was used again.
        if (signal.aborted || !(error instanceof GuardedFetchError) || error.reason !== "unreachable") throw error;
      }
    }
    return await send(await open(url, signal), url, request, signal);
  }

  return {
    async post(url, request) {
      request.signal.throwIfAborted();
      const obstacle = checkPublicUrl(url, parts);
      if (obstacle !== null) throw new GuardedFetchError("forbidden-address", obstacle);
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), request.timeoutMs);
      const signal = AbortSignal.any([late.signal, closing.signal, request.signal]);
      try {
        signal.throwIfAborted();
        return await sendWithin(new URL(url), request, signal);
      } catch (error) {
        request.signal.throwIfAborted();
        if (error instanceof GuardedFetchError) throw error;
        if (late.signal.aborted) throw createTimeout(error);
        throw new GuardedFetchError("unreachable", "The server of the URL could not be reached.", { cause: error });
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      closing.abort();
      await Promise.all([...connections].map(drop));
    },
  };
}

function createConnection(
  guard: ConnectionGuard,
  addresses: readonly string[],
  options: { origin: string; idleMs: number; onIdleEnd(connection: Connection): void },
): Connection {
  const connect = guard.createConnector(addresses);
  const client = new Client(options.origin, {
    connect(connecting, callback) {
      const socket: unknown = connect(connecting, callback);
      if (socket instanceof Socket) connection.socket = socket;
    },
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: options.idleMs,
    keepAliveMaxTimeout: options.idleMs,
    maxHeaderSize: headerBytesMax,
  });
  const connection: Connection = { client, socket: null, origin: options.origin };
  client.on("disconnect", () => options.onIdleEnd(connection));
  return connection;
}

type ExchangeParts = {
  clock: Clock;
  answerBytesMax: number;
  bodyMs?: number;
  signal: AbortSignal;
  onOver(isReusable: boolean): void;
};

/** One request and as much of its answer as is wanted, on a client that serves nobody else meanwhile. */
function exchange(client: Client, url: URL, request: GuardedRequest, parts: ExchangeParts): Promise<GuardedAnswer> {
  const { clock, answerBytesMax, signal, onOver } = parts;
  const { promise, resolve, reject } = Promise.withResolvers<GuardedAnswer>();
  const chunks: Buffer[] = [];
  let length = 0;
  let head: { status: number; headers: UpstreamHeaders } | null = null;
  let timer: NodeJS.Timeout | undefined;

  function finish(error: unknown): void {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    if (head === null) reject(error);
    else resolve({ ...head, bytes: Buffer.concat(chunks).subarray(0, answerBytesMax) });
  }

  function stop(): void {
    call.cancel();
    finish(signal.reason);
  }

  const call: UpstreamCall = createUpstreamCaller({ client, clock, onOver }).start(
    {
      path: url.pathname + url.search,
      headers: Object.entries(request.headers).flat(),
      body: request.body,
      timeouts: timeoutsOf(request.timeoutMs),
    },
    {
      onHead(status, headers) {
        head = { status, headers };
        timer = setTimeout(stop, parts.bodyMs ?? bodyMsUsual);
      },
      onData(chunk) {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= answerBytesMax) stop();
      },
      onEnd: () => finish(null),
      onError: (error) => finish(translateError(error)),
    },
  );
  signal.addEventListener("abort", stop);
  return promise;
}

function timeoutsOf(timeoutMs: number) {
  return { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
}

function createTimeout(cause: unknown): GuardedFetchError {
  return new GuardedFetchError("timeout", "The server of the URL did not answer in time.", { cause });
}

function translateError(error: UpstreamError): GuardedFetchError {
  if (error.cause instanceof GuardedFetchError) return error.cause;
  switch (error.kind) {
    case "timeout":
      return createTimeout(error);
    case "bad-answer":
      return new GuardedFetchError("bad-answer", "The server of the URL did not answer properly.", { cause: error });
    default:
      return new GuardedFetchError("unreachable", "The server of the URL could not be reached.", { cause: error });
  }
}
