import { Readable } from "node:stream";
import { systemClock } from "../../lib/clock.ts";
import { checkPublicUrl } from "./check-public-url.ts";
import { type ConnectionGuard, createGuardedConnect, GuardedFetchError } from "./guarded-connector.ts";
import { type OpenAnswer, openExchange } from "./open-exchange.ts";
import { UpstreamError, type UpstreamHeaders, type UpstreamRequest, type UpstreamTimeouts } from "./upstream-call.ts";
import { createUpstreamPool, type UpstreamPool } from "./upstream-pool.ts";

export { GuardedFetchError } from "./guarded-connector.ts";

/**
 * Fetches every URL except chat upstreams: URLs from users and upstreams, and servers in the settings. SSRF guard: the
 * address in the URL, every resolved address and the connected peer must be public, also for redirects. All methods throw
 * a `GuardedFetchError` or the reason of the caller's signal.
 */
export type GuardedClient = {
  /** Resolves when the head has arrived, with any status. */
  send(url: string, request: GuardedRequest): Promise<ExchangeAnswer>;
  /** The whole body; a redirect or any status other than 200 is an error. */
  fetchBytes(url: string, options: GuardedFetchOptions): Promise<{ bytes: Buffer; contentType: string }>;
  /** A POST and the beginning of its response body, bounded in bytes and time. */
  post(url: string, request: GuardedPost): Promise<GuardedAnswer>;
  /** Aborts all requests and closes all connections. */
  close(): Promise<void>;
};

export type GuardedRequest = Pick<UpstreamRequest, "method" | "connection"> & {
  headers: Headers | ((url: URL) => Headers);
  body: string | AsyncIterable<Uint8Array> | null;
  timeouts: UpstreamTimeouts;
  signal: AbortSignal;
  /** The default is 0. */
  redirectsMax?: number;
  /** With a fresh connection: the whole request was written. Before that the server cannot have started work. */
  onSent?(): void;
  /** Called once, when the exchange has ended. */
  onOver?(): void;
};

type Headers = Readonly<Record<string, string>>;

/** A response head. Read or drop its body. */
export type ExchangeAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** Call once. Stopping early ends the exchange. */
  read(options: { bytesMax: number }): AsyncGenerator<Buffer, void, undefined>;
  drop(): void;
};

export type GuardedFetchOptions = {
  bytesMax: number;
  /** Total, from DNS lookup to the last byte. */
  timeoutMs: number;
  /** Media types such as `image/png`, without parameters. The default is any. */
  acceptedTypes?: readonly string[];
  signal?: AbortSignal;
};

type GuardedPost = { headers: Headers; body: string; bytesMax: number; timeoutMs: number; signal: AbortSignal };

export type GuardedAnswer = { status: number; headers: UpstreamHeaders; bytes: Buffer };

type GuardedClientOptions = Omit<ConnectionGuard, "allowsPrivate"> & {
  allowsPrivate: boolean | ((url: URL) => boolean);
  headerBytesMax?: number;
  idleMs?: number;
  bodyMs?: number;
};

const defaultHeaderBytesMax = 16 * 1024;
const defaultIdleMs = 4000;
/** Further connections are not kept alive: users can name any number of hosts. */
const keptConnectionsMax = 512;
/** The status decides the outcome of a POST, so the body gets little time. */
const defaultBodyMs = 1000;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { bodyMs = defaultBodyMs } = options;
  const pools = createGuardedPools(options);
  const closing = new AbortController();

  /** One request without redirects. Checks the original text: the parser drops forbidden characters. */
  async function sendOnce(text: string, url: URL, request: GuardedRequest): Promise<ExchangeAnswer> {
    const obstacle = checkPublicUrl(text, { allowsPrivate: pools.allowsPrivate(url) });
    if (obstacle !== null) throw new GuardedFetchError("forbidden-address", obstacle);
    const { headers, connection = pools.hasRoom() ? "kept" : "fresh" } = request;
    const exchange = openExchange(
      pools.get(url),
      {
        method: request.method ?? "GET",
        path: url.pathname + url.search,
        headers: Object.entries(typeof headers === "function" ? headers(url) : headers).flat(),
        timeouts: request.timeouts,
        connection,
        ...followSending(request),
      },
      {
        signal: AbortSignal.any([request.signal, closing.signal]),
        ...(request.onOver === undefined ? {} : { onOver: request.onOver }),
      },
    );
    return createAnswer(await exchange.head, request.signal);
  }

  async function send(text: string, request: GuardedRequest): Promise<ExchangeAnswer> {
    const { redirectsMax = 0, signal } = request;
    try {
      signal.throwIfAborted();
      closing.signal.throwIfAborted();
      let url = parseUrl(text);
      for (let hop = 0; ; hop += 1) {
        const answer = await sendOnce(hop === 0 ? text : url.href, url, request);
        if (redirectsMax === 0 || !redirectStatuses.has(answer.status)) return answer;
        answer.drop();
        if (hop === redirectsMax) throw createBadAnswer(`The URL redirects more than ${redirectsMax} times.`);
        url = parseUrl(answer.headers.location, url);
      }
    } catch (error) {
      throw translateError(error, signal);
    }
  }

  return {
    send,
    fetchBytes: (url, options) => fetchBytes(send, url, options),
    post: (url, request) => post({ send, bodyMs, hasIdle: pools.hasIdle }, url, request),
    async close() {
      closing.abort(new GuardedFetchError("unreachable", "The gateway is shutting down."));
      await pools.close();
    },
  };
}

/** One pool per origin with open connections. */
function createGuardedPools(options: GuardedClientOptions) {
  const { headerBytesMax = defaultHeaderBytesMax, idleMs = defaultIdleMs } = options;
  const pools = new Map<string, UpstreamPool>();

  function allowsPrivate(url: URL): boolean {
    return typeof options.allowsPrivate === "boolean" ? options.allowsPrivate : options.allowsPrivate(url);
  }

  return {
    allowsPrivate,
    get(url: URL): UpstreamPool {
      const known = pools.get(url.origin);
      if (known !== undefined) return known;
      for (const [origin, { countConnections }] of pools) if (countConnections() === 0) pools.delete(origin);
      const pool = createUpstreamPool({
        origin: url.origin,
        clock: systemClock,
        connect: createGuardedConnect({ ...options, allowsPrivate: allowsPrivate(url) }),
        connectionsMax: Number.POSITIVE_INFINITY,
        idleMs,
        idleMsMax: idleMs,
        headerBytesMax,
      });
      pools.set(url.origin, pool);
      return pool;
    },
    hasRoom(): boolean {
      let count = 0;
      for (const { countConnections } of pools.values()) count += countConnections();
      return count < keptConnectionsMax;
    },
    hasIdle: (url: string): boolean => pools.get(URL.parse(url)?.origin ?? "")?.hasIdle() ?? false,
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

async function fetchBytes(
  send: GuardedClient["send"],
  url: string,
  { bytesMax, timeoutMs, acceptedTypes, signal = new AbortController().signal }: GuardedFetchOptions,
): Promise<{ bytes: Buffer; contentType: string }> {
  const headers = {
    accept: acceptedTypes?.join(", ") ?? "*/*",
    // Protects against decompression bombs.
    "accept-encoding": "identity",
    "user-agent": "Sluice",
  };
  // No keep-alive: users can name any number of hosts.
  const manner = { connection: "fresh", timeouts: timeoutsOf(timeoutMs), signal } as const;
  const answer = await send(url, { headers, body: null, ...manner });
  checkBytes(answer, bytesMax);
  const contentType = readContentType(answer.headers);
  if (acceptedTypes !== undefined && !acceptedTypes.includes(contentType)) {
    answer.drop();
    throw new GuardedFetchError("wrong-type", `The URL must return one of these types: ${acceptedTypes.join(", ")}.`);
  }
  return { bytes: await readWhole(answer, { bytesMax }), contentType };
}

async function post(
  { send, hasIdle, bodyMs }: Pick<GuardedClient, "send"> & { hasIdle(url: string): boolean; bodyMs: number },
  url: string,
  { bytesMax, timeoutMs, signal: callerSignal, ...content }: GuardedPost,
): Promise<GuardedAnswer> {
  callerSignal.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new GuardedFetchError("timeout", sentences.timeout)), timeoutMs);
  const signal = AbortSignal.any([callerSignal, late.signal]);
  const request = { ...content, method: "POST", timeouts: timeoutsOf(timeoutMs), signal } as const;
  const isReused = hasIdle(url);
  try {
    const answer = await send(url, request).catch((error: unknown) => {
      // A receiver may close an idle connection just as it is reused: retry on a fresh one.
      const isBroken = error instanceof GuardedFetchError && error.reason === "unreachable";
      if (!isReused || !isBroken || signal.aborted) throw error;
      return send(url, { ...request, connection: "fresh" });
    });
    const { status, headers } = answer;
    return { status, headers, bytes: await readBeginning(answer, { bytesMax, bodyMs }) };
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `onSent` when the request is written: for text on connect, for a stream at its end. */
function followSending({ body, onSent }: GuardedRequest): Pick<UpstreamRequest, "body" | "onConnected"> {
  if (body === null || typeof body === "string")
    return { body, ...(onSent === undefined ? {} : { onConnected: onSent }) };
  async function* follow(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* chunks;
    onSent?.();
  }
  return { body: Readable.from(follow(body), { objectMode: false }) };
}

function createAnswer({ status, headers, read, drop }: OpenAnswer, signal: AbortSignal): ExchangeAnswer {
  async function* readBounded({ bytesMax }: { bytesMax: number }): AsyncGenerator<Buffer, void, undefined> {
    let length = 0;
    try {
      for await (const chunk of read()) {
        length += chunk.length;
        if (length > bytesMax) throw createTooLarge(bytesMax);
        yield chunk;
      }
    } catch (error) {
      throw translateError(error, signal);
    }
  }
  return { status, headers, read: readBounded, drop };
}

export async function readWhole(answer: ExchangeAnswer, options: { bytesMax: number }): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(answer.read(options)));
}

/** Drops and rejects a response that is not the plain file. */
export function checkBytes(answer: ExchangeAnswer, bytesMax: number): void {
  const obstacle = findObstacle(answer, bytesMax);
  if (obstacle === null) return;
  answer.drop();
  throw obstacle;
}

function findObstacle({ status, headers }: ExchangeAnswer, bytesMax: number): GuardedFetchError | null {
  if (status >= 300 && status < 400) {
    return createBadAnswer("The URL redirects. Use the final URL; redirects are not followed.");
  }
  if (status !== 200) return createBadAnswer(`The URL returned status ${status}.`);
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    return createBadAnswer("The URL returned a compressed response without being asked to.");
  }
  return Number(headers["content-length"] ?? 0) > bytesMax ? createTooLarge(bytesMax) : null;
}

async function readBeginning(
  { read, drop }: ExchangeAnswer,
  { bytesMax, bodyMs }: { bytesMax: number; bodyMs: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(drop, bodyMs);
  try {
    for await (const chunk of read({ bytesMax: Number.POSITIVE_INFINITY })) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytesMax) break;
    }
  } catch {
    // The status is known, so a failed body does not matter.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

function readContentType(headers: UpstreamHeaders): string {
  const [type = ""] = String(headers["content-type"] ?? "").split(";", 1);
  return type.trim().toLowerCase();
}

function parseUrl(text: string | string[] | undefined, base?: URL): URL {
  const url = typeof text === "string" ? URL.parse(text, base?.href) : null;
  if (url === null) throw createBadAnswer("The URL is not valid.");
  return url;
}

export function timeoutsOf(timeoutMs: number): UpstreamTimeouts {
  return { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
}

function translateError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!(error instanceof UpstreamError)) return error;
  if (error.cause instanceof GuardedFetchError) return error.cause;
  return new GuardedFetchError(error.kind, sentences[error.kind], { cause: error });
}

const sentences = {
  timeout: "The server of the URL did not respond in time.",
  unreachable: "The server of the URL could not be reached.",
  overloaded: "The server of the URL could not be reached.",
  "bad-answer": "The server of the URL returned an invalid response.",
} as const satisfies Record<UpstreamError["kind"], string>;

function createBadAnswer(message: string): GuardedFetchError {
  return new GuardedFetchError("bad-answer", message);
}

function createTooLarge(bytesMax: number): GuardedFetchError {
  return new GuardedFetchError("too-large", `The file at the URL exceeds ${bytesMax} bytes.`);
}
