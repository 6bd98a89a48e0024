import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { createJsonScanner } from "../http/json-scanner.ts";
import { type Exchange, type OpenAnswer, openExchange } from "./open-exchange.ts";
import { UpstreamError, type UpstreamHeaders, type UpstreamRequest, type UpstreamTimeouts } from "./upstream-call.ts";
import { createConnect, createUpstreamPool, type UpstreamPool } from "./upstream-pool.ts";

export type Fetch = typeof globalThis.fetch;

/** One call to an upstream. A vendor's library may send several requests for it. */
export type FetchCall = {
  /**
   * Like the global `fetch`, but follows no redirects, accepts only text or bytes as body, and ignores `signal`: only the
   * call stops it.
   */
  fetch: Fetch;
  /** Aborted when the call ends. */
  signal: AbortSignal;
  /** Why the call failed; libraries wrap errors beyond recognition. */
  readonly failure: FetchFailure | null;
  /** Stops reading from the socket. Time until `resume` does not count towards the idle timeout. */
  pause(): void;
  resume(): void;
  /** Closes the connection of a running request. */
  end(): void;
};

/** The reason is for operators. */
type FetchFailure = { kind: UpstreamError["kind"]; reason: string };

type FetchCallOptions = {
  /** The total applies to the whole call, the others to each request. */
  timeouts: UpstreamTimeouts;
  onHead(status: number, headers: UpstreamHeaders): void;
};

export type UpstreamFetch = {
  openCall(options: FetchCallOptions): FetchCall;
  close(): Promise<void>;
};

/** A vendor's library may send follow-up requests; bound them. */
const requestsMax = 8;

const longBodyCharacters = 64 * 1024;

/** Calls have their own, shorter timeouts. */
const connectMsMax = 60_000;

/** Per origin. */
const defaultConnectionsMax = 1024;

const answerBytesMax = 32 * 1024 * 1024;
/** Long responses arrive one token at a time, each in an event of some hundred bytes. */
const eventStreamBytesMax = 128 * 1024 * 1024;
/** Parsers buffer an event until it ends. */
const eventBytesMax = 4 * 1024 * 1024;
const frameLengthBytes = 4;
/** Libraries parse a response or event synchronously: this much structure takes up to 50 ms. */
const defaultStructureMax = 80_000;
const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

/** The upstream pool as a `fetch`, for vendors' libraries. */
export function createUpstreamFetch({
  connectionsMax = defaultConnectionsMax,
  structureMax = defaultStructureMax,
} = {}): UpstreamFetch {
  const connect = createConnect({ timeoutMs: connectMsMax });
  const pools = new Map<string, UpstreamPool>();
  const calls = new Set<FetchCall>();
  let isClosed = false;

  function getPool(origin: string): UpstreamPool {
    if (isClosed) throw new UpstreamError("unreachable", "The gateway is shutting down.");
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

/** A failure, the caller or the total timeout ends the whole call. */
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

  /** Also ends the call: the library may ignore the error. */
  function failBy(error: unknown): never {
    if (error instanceof UpstreamError) fail(explainFailure(error));
    throw error;
  }

  async function fetchOnce(...[input, init]: Parameters<Fetch>): Promise<Response> {
    exchange?.end();
    ending.signal.throwIfAborted();
    requestCount += 1;
    if (requestCount > requestsMax)
      fail({ kind: "bad-answer", reason: `The library sent more than ${requestsMax} requests.` });
    // Serializing a large body blocked the event loop, and encoding it will again: yield.
    if (typeof init?.body === "string" && init.body.length > longBodyCharacters) await nextTurn();
    ending.signal.throwIfAborted();
    const { origin, ...request } = readRequest(input, init);
    try {
      exchange = openExchange(getPool(origin), { ...request, timeouts }, { signal: ending.signal });
      if (isPaused) exchange.pause();
      const answer = await exchange.head;
      const response = createResponse(answer, readChecked(answer, structureMax, failBy));
      onHead(answer.status, answer.headers);
      return response;
    } catch (error) {
      return failBy(error);
    }
  }

  const totalTimer = setTimeout(() => fail({ kind: "timeout", reason: "The call timed out." }), timeouts.totalMs);
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

/** The response body, bounded in size and JSON structure. */
async function* readChecked(
  { headers, read }: OpenAnswer,
  structureMax: number,
  failBy: (error: unknown) => never,
): AsyncGenerator<Buffer, void, undefined> {
  const measure = createMeasure(String(headers["content-type"]));
  const bytesMax = measure === null ? answerBytesMax : eventStreamBytesMax;
  let bytes = 0;
  const limits = { structureMax, escapesMax: Number.POSITIVE_INFINITY };
  let scanner = createJsonScanner(limits);
  try {
    for await (const chunk of read()) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new UpstreamError("bad-answer", "The response is too large.");
      // A chunk that ends an event restarts the count; other events in the same chunk are too small to matter.
      if (measure !== null && measure(chunk) < chunk.length) scanner = createJsonScanner(limits);
      else if (scanner.add(chunk) !== null)
        throw new UpstreamError("bad-answer", "The response has too much JSON structure.");
      yield chunk;
    }
  } catch (error) {
    failBy(error);
  }
}

/** Measures the open event after each chunk of a stream, and throws if it is too long. `null` for other responses. */
function createMeasure(contentType: string): ((chunk: Buffer) => number) | null {
  if (contentType.startsWith("text/event-stream")) return createLineMeasure();
  return contentType.startsWith("application/vnd.amazon.eventstream") ? createFrameMeasure() : null;
}

function createLineMeasure(): (chunk: Buffer) => number {
  let bytes = 0;
  return (chunk) => {
    const firstEnd = chunk.indexOf(0x0a);
    checkEventLength(bytes + (firstEnd === -1 ? chunk.length : firstEnd));
    bytes = firstEnd === -1 ? bytes + chunk.length : chunk.length - 1 - chunk.lastIndexOf(0x0a);
    return bytes;
  };
}

/** AWS's events are frames that begin with their length in four bytes. */
function createFrameMeasure(): (chunk: Buffer) => number {
  let head = Buffer.alloc(0);
  let frameBytes = 0;
  let bytes = 0;
  return (chunk) => {
    let rest = chunk;
    while (rest.length > 0) {
      const wanted = head.length < frameLengthBytes ? frameLengthBytes : frameBytes;
      const part = rest.subarray(0, wanted - bytes);
      rest = rest.subarray(part.length);
      bytes += part.length;
      if (head.length < frameLengthBytes) {
        head = Buffer.concat([head, part]);
        if (head.length < frameLengthBytes) return bytes;
        frameBytes = head.readUInt32BE();
        if (frameBytes <= frameLengthBytes)
          throw new UpstreamError("bad-answer", "A frame of the response is invalid.");
        checkEventLength(frameBytes);
      }
      if (bytes < frameBytes) continue;
      head = Buffer.alloc(0);
      bytes = 0;
    }
    return bytes;
  };
}

function checkEventLength(bytes: number): void {
  if (bytes > eventBytesMax) throw new UpstreamError("bad-answer", "An event of the response is too long.");
}

function readRequest(
  input: Parameters<Fetch>[0],
  init: Parameters<Fetch>[1],
): Omit<UpstreamRequest, "timeouts"> & { origin: string } {
  invariant(typeof input === "string" || input instanceof URL, "fetch needs a URL");
  const body = init?.body ?? null;
  invariant(body === null || typeof body === "string" || body instanceof Uint8Array, "a body must be text or bytes");
  const headers = new Headers(init?.headers);
  // Protects against decompression bombs.
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
    throw new UpstreamError("bad-answer", `The response head is invalid: ${String(error)}`);
  }
}
