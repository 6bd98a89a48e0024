import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { createJsonScanner } from "../http/json-scanner.ts";
import { type Exchange, type OpenAnswer, openExchange } from "./open-exchange.ts";
import { UpstreamError, type UpstreamRequest, type UpstreamTimeouts } from "./upstream-call.ts";
import { createConnect, createUpstreamPool, type UpstreamPool } from "./upstream-pool.ts";

export type Fetch = typeof globalThis.fetch;

/** One call to an upstream. A library that speaks for us may need several requests for it, one after another. */
export type FetchCall = {
  /**
   * Behaves like the platform's, but follows no redirect, takes a text or bytes as the only body, and is stopped by the
   * call alone: a signal of its own is not listened to.
   */
  fetch: Fetch;
  /** Aborted when the call has ended, for whatever reason. */
  signal: AbortSignal;
  /** Why the call could not go on; libraries wrap such errors until they cannot be told apart. */
  readonly failure: FetchFailure | null;
  /** Stops reading from the socket. The time until `resume` is not counted as silence. */
  pause(): void;
  resume(): void;
  /** Closes the connection of a request that is still under way. */
  end(): void;
};

/** Why a request came to nothing; the reason is for operators. */
type FetchFailure = { kind: UpstreamError["kind"]; reason: string };

type FetchCallOptions = {
  /** The total is of the whole call, the others of each request. */
  timeouts: UpstreamTimeouts;
  /** The head of an answer has come. */
  onHead(status: number): void;
};

export type UpstreamFetch = {
  openCall(options: FetchCallOptions): FetchCall;
  /** Ends all calls and connections. */
  close(): Promise<void>;
};

/** A vendor's library may ask again on its own, for instance to continue an answer; an upstream must not keep it at it. */
const requestsMax = 8;

const longBodyCharacters = 64 * 1024;

/** Each call has its own, shorter limit. */
const connectMsMax = 60_000;

/** To one host. */
const connectionsMaxStandard = 1024;

const answerBytesMax = 32 * 1024 * 1024;
/** The longest answers come one token at a time, each in an envelope of some hundred bytes. */
const eventStreamBytesMax = 128 * 1024 * 1024;
/** Parsers keep a line until it ends. */
const eventLineBytesMax = 4 * 1024 * 1024;
/** Libraries parse a whole answer, or an event, in one go: so many `{`, `[`, `:` and `,` of it take up to 50 ms. */
const structureMaxStandard = 80_000;
const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

/** The upstream pool as a `fetch`, for libraries that speak to a vendor for us. */
export function createUpstreamFetch({
  connectionsMax = connectionsMaxStandard,
  structureMax = structureMaxStandard,
} = {}): UpstreamFetch {
  const connect = createConnect({ timeoutMs: connectMsMax });
  const pools = new Map<string, UpstreamPool>();
  const calls = new Set<FetchCall>();
  let isClosed = false;

  function getPool(origin: string): UpstreamPool {
    if (isClosed) throw new UpstreamError("unreachable", "The connections are closed.");
    const pool = pools.get(origin) ?? createUpstreamPool({ origin, clock: systemClock, connect, connectionsMax });
    pools.set(origin, pool);
    return pool;
  }

  function openCall(options: FetchCallOptions): FetchCall {
    const call = openFetchCall(getPool, { ...options, structureMax }, () => calls.delete(call));
    calls.add(call);
    return call;
  }

  return {
    openCall,
    async close() {
      isClosed = true;
      for (const call of calls) call.end();
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

/** One value with its own end, so that whatever ends it (a failure, its caller, its time) ends all of it. */
function openFetchCall(
  getPool: (origin: string) => UpstreamPool,
  { timeouts, onHead, structureMax }: FetchCallOptions & { structureMax: number },
  onEnd: () => void,
): FetchCall {
  let exchange: Exchange | null = null;
  let requestCount = 0;
  let isPaused = false;
  let failure: FetchFailure | null = null;
  const ending = new AbortController();

  function end(): void {
    clearTimeout(totalTimer);
    onEnd();
    ending.abort();
  }

  function fail(reason: FetchFailure): void {
    if (ending.signal.aborted) return;
    failure = reason;
    end();
  }

  /** What broke off is over for the library too, which may have no ear for it. */
  function failBy(error: unknown): never {
    if (error instanceof UpstreamError) fail(explainFailure(error));
    throw error;
  }

  async function fetchOnce(...[input, init]: Parameters<Fetch>): Promise<Response> {
    exchange?.end();
    ending.signal.throwIfAborted();
    requestCount += 1;
    if (requestCount > requestsMax) fail({ kind: "bad-answer", reason: `It takes more than ${requestsMax} requests.` });
    // Who wrote so much has held everybody else up, and it is about to be encoded.
    if (typeof init?.body === "string" && init.body.length > longBodyCharacters) await nextTurn();
    ending.signal.throwIfAborted();
    const { origin, ...request } = readRequest(input, init);
    try {
      exchange = openExchange(getPool(origin), { ...request, timeouts }, { signal: ending.signal });
      if (isPaused) exchange.pause();
      const answer = await exchange.head;
      const response = createResponse(answer, readChecked(answer, structureMax, failBy));
      onHead(answer.status);
      return response;
    } catch (error) {
      return failBy(error);
    }
  }

  const totalTimer = setTimeout(() => fail({ kind: "timeout", reason: "The call took too long." }), timeouts.totalMs);
  return {
    fetch: fetchOnce,
    signal: ending.signal,
    get failure() {
      return failure;
    },
    pause() {
      isPaused = true;
      exchange?.pause();
    },
    resume() {
      isPaused = false;
      exchange?.resume();
    },
    end,
  };
}

function explainFailure({ kind, message, cause }: UpstreamError): FetchFailure {
  return { kind, reason: cause instanceof Error ? `${message} ${cause.message}` : message };
}

/** The body of an answer, up to where it is too large, or would take too long to parse. */
async function* readChecked(
  { headers, read }: OpenAnswer,
  structureMax: number,
  failBy: (error: unknown) => never,
): AsyncGenerator<Buffer, void, undefined> {
  const isEventStream = String(headers["content-type"]).startsWith("text/event-stream");
  const bytesMax = isEventStream ? eventStreamBytesMax : answerBytesMax;
  let bytes = 0;
  let lineBytes = 0;
  const limits = { structureMax, escapesMax: Number.POSITIVE_INFINITY };
  let scanner = createJsonScanner(limits);
  try {
    for await (const chunk of read()) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new UpstreamError("bad-answer", "Its answer is too large.");
      if (isEventStream) lineBytes = measureLine(lineBytes, chunk);
      // A chunk that ends a line begins another count; what a line shares a chunk with is too little to matter.
      if (isEventStream && lineBytes < chunk.length) scanner = createJsonScanner(limits);
      else if (scanner.add(chunk) !== null) throw new UpstreamError("bad-answer", "Its answer has too much structure.");
      yield chunk;
    }
  } catch (error) {
    failBy(error);
  }
}

/** How long the line is that a chunk ends in. */
function measureLine(bytesBefore: number, chunk: Buffer): number {
  const firstEnd = chunk.indexOf(0x0a);
  if (bytesBefore + (firstEnd === -1 ? chunk.length : firstEnd) > eventLineBytesMax)
    throw new UpstreamError("bad-answer", "A line of it is too long.");
  return firstEnd === -1 ? bytesBefore + chunk.length : chunk.length - 1 - chunk.lastIndexOf(0x0a);
}

function readRequest(
  input: Parameters<Fetch>[0],
  init: Parameters<Fetch>[1],
): Omit<UpstreamRequest, "timeouts"> & { origin: string } {
  invariant(typeof input === "string" || input instanceof URL, "an upstream is asked by its URL");
  const body = init?.body ?? null;
  invariant(
    body === null || typeof body === "string" || body instanceof Uint8Array,
    "a request's body is text or bytes",
  );
  const headers = new Headers(init?.headers);
  // What we pass on has to be read anyway, and nothing small can grow large in our memory.
  headers.set("accept-encoding", "identity");
  const { origin, pathname, search } = new URL(input);
  const method = (init?.method ?? "GET") as NonNullable<UpstreamRequest["method"]>;
  return { origin, method, path: pathname + search, headers: [...headers].flat(), body };
}

export function createResponse(
  { status, headers }: Pick<OpenAnswer, "status" | "headers">,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Response {
  const lines = Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((text): [string, string] => [name, text]),
  );
  try {
    const stream = bodilessStatuses.has(status) ? null : ReadableStream.from(body);
    return new Response(stream as ReadableStream<Uint8Array> | null, { status, headers: lines });
  } catch (error) {
    throw new UpstreamError("bad-answer", `Its head cannot be read: ${String(error)}`);
  }
}
