import { Readable } from "node:stream";
import { systemClock } from "../../lib/clock.ts";
import { checkPublicUrl } from "./check-public-url.ts";
import { type ConnectionGuard, createGuardedConnect, GuardedFetchError } from "./guarded-connector.ts";
import { type OpenAnswer, openExchange } from "./open-exchange.ts";
import { UpstreamError, type UpstreamHeaders, type UpstreamRequest, type UpstreamTimeouts } from "./upstream-call.ts";
import { createUpstreamPool, type UpstreamPool } from "./upstream-pool.ts";

export { GuardedFetchError } from "./guarded-connector.ts";

/**
 * Reaches every URL that is not a chat upstream's: those that users and upstreams give, and servers that an operator
 * named. Against SSRF, the address in a URL, every address that its name resolves to and the peer of the open connection
 * have to be public, in each redirect too. Everything throws a `GuardedFetchError`, or the reason of the caller's signal.
 */
export type GuardedClient = {
  /** Answers when the head has come, whatever its status is. */
  send(url: string, request: GuardedRequest): Promise<ExchangeAnswer>;
  /** The whole of what a URL leads to; a redirect or any other status than 200 is an error. */
  fetchBytes(url: string, options: GuardedFetchOptions): Promise<{ bytes: Buffer; contentType: string }>;
  /** A POST and the beginning of its answer: what comes within some bytes and a moment. */
  post(url: string, request: GuardedPost): Promise<GuardedAnswer>;
  /** Ends what is under way, and all connections. */
  close(): Promise<void>;
};

export type GuardedRequest = Pick<UpstreamRequest, "method" | "connection"> & {
  headers: Headers | ((url: URL) => Headers);
  body: string | AsyncIterable<Uint8Array> | null;
  timeouts: UpstreamTimeouts;
  signal: AbortSignal;
  /** None are followed unless it is said. */
  redirectsMax?: number;
  /** On a fresh connection: the whole request is on its way. Until then, the server cannot have begun anything. */
  onSent?(): void;
  /** Told once, when nothing more will come from the network. */
  onOver?(): void;
};

type Headers = Readonly<Record<string, string>>;

/** The head of an answer. Its body has to be read, or to be dropped. */
export type ExchangeAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** Once. Who stops early ends the exchange. */
  read(options: { bytesMax: number }): AsyncGenerator<Buffer, void, undefined>;
  drop(): void;
};

export type GuardedFetchOptions = {
  bytesMax: number;
  /** For everything together, from the name's lookup to the last byte. */
  timeoutMs: number;
  /** Media types such as `image/png`, without parameters; absent, any will do. */
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

const headerBytesMaxStandard = 16 * 1024;
const idleMsStandard = 4000;
/** Beyond these, connections are used once: users can name any number of hosts. */
const keptConnectionsMax = 512;
/** The status of a POST tells its outcome, so nobody waits long for the rest. */
const bodyMsStandard = 1000;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { bodyMs = bodyMsStandard } = options;
  const pools = createGuardedPools(options);
  const closing = new AbortController();

  /** One request and no redirect. The text is what was given: the parser drops what would speak against it. */
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
      closing.abort(new GuardedFetchError("unreachable", "The connections are closed."));
      await pools.close();
    },
  };
}

/** A pool for each origin that has connections now. */
function createGuardedPools(options: GuardedClientOptions) {
  const { headerBytesMax = headerBytesMaxStandard, idleMs = idleMsStandard } = options;
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
    // What is not compressed cannot unfold into more than was read.
    "accept-encoding": "identity",
    "user-agent": "Sluice",
  };
  // For each URL a connection of its own: nothing is kept that would grow with the hosts that users can name.
  const manner = { connection: "fresh", timeouts: timeoutsOf(timeoutMs), signal } as const;
  const answer = await send(url, { headers, body: null, ...manner });
  checkBytes(answer, bytesMax);
  const contentType = readContentType(answer.headers);
  if (acceptedTypes !== undefined && !acceptedTypes.includes(contentType)) {
    answer.drop();
    throw new GuardedFetchError("wrong-type", `The URL has to lead to one of these: ${acceptedTypes.join(", ")}.`);
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
      // The receiver may close a kept connection at the moment that it is used again; then another one is opened.
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

/** Tells when a request is wholly on its way: a text when there is a connection, a stream at its end. */
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

/** All of an answer's body. */
export async function readWhole(answer: ExchangeAnswer, options: { bytesMax: number }): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(answer.read(options)));
}

/** Refuses, and drops, what are not the bytes themselves. */
export function checkBytes(answer: ExchangeAnswer, bytesMax: number): void {
  const obstacle = findObstacle(answer, bytesMax);
  if (obstacle === null) return;
  answer.drop();
  throw obstacle;
}

function findObstacle({ status, headers }: ExchangeAnswer, bytesMax: number): GuardedFetchError | null {
  if (status >= 300 && status < 400) {
    return createBadAnswer("The URL redirects to another one; redirects are not followed.");
  }
  if (status !== 200) return createBadAnswer(`The server of the URL answered with status ${status}.`);
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    return createBadAnswer("The server of the URL compresses its answer without being asked to.");
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
    // However it ends, its status is known.
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
  timeout: "The server of the URL did not answer in time.",
  unreachable: "The server of the URL could not be reached.",
  overloaded: "The server of the URL could not be reached.",
  "bad-answer": "The server of the URL did not answer properly.",
} as const satisfies Record<UpstreamError["kind"], string>;

function createBadAnswer(message: string): GuardedFetchError {
  return new GuardedFetchError("bad-answer", message);
}

function createTooLarge(bytesMax: number): GuardedFetchError {
  return new GuardedFetchError("too-large", `What the URL leads to has more than ${bytesMax} bytes.`);
}
