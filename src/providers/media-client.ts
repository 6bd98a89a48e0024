import { Readable } from "node:stream";
import { createSemaphore, type Semaphore } from "../lib/semaphore.ts";
import { allowPrivateFor, download } from "../platform/net/download.ts";
import {
  createGuardedClient,
  type ExchangeAnswer,
  GuardedFetchError,
  type GuardedRequest,
  readWhole,
} from "../platform/net/guarded-client.ts";
import { UpstreamError, type UpstreamHeaders } from "../platform/net/upstream-call.ts";
import { ProviderError, type ProviderErrorKind } from "./contract.ts";
import { parseRefusal } from "./failures/read-vendor-words.ts";
import { parseJson } from "./openai-compatible/json-value.ts";

/** The HTTP client of media providers. Everything throws a `ProviderError`, or the signal's reason. */
export type MediaClient = {
  /** Resolves when the response's head has arrived. */
  send(request: MediaRequest): Promise<ExchangeAnswer>;
  /** Returns the complete response. */
  ask(request: WholeRequest): Promise<WholeAnswer>;
  /** For requests that must not be sent twice. Throws only if the vendor certainly did not get the whole request. */
  sendOnce<T>(request: MediaRequest, read: (answer: ExchangeAnswer) => Promise<T>): Promise<OnceOutcome<T>>;
  /** Downloads an output from the vendor's URL. The key is sent to the vendor's own origin only. */
  download(url: string, options: { signal: AbortSignal; apiKey: string | null }): Promise<Readable>;
  close(): Promise<void>;
};

export type MediaRequest = Pick<GuardedRequest, "body" | "signal"> & {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** With the query. */
  path: string;
  apiKey: string | null;
  headers?: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Between two reads; absent: as long as the whole request may take. */
  idleMs?: number;
  /** Called with the headers of the response. */
  onHead?(headers: UpstreamHeaders): void;
};

type WholeRequest = MediaRequest & { bytesMax: number };

export type WholeAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** Parsed JSON; `undefined` if it is none. For an error, as parsed by `parseRefusal`. */
  body: unknown;
};

type OnceOutcome<T> = { kind: "answered"; answer: T } | { kind: "ambiguous"; error: ProviderError };

export type MediaClientOptions = {
  origin: string;
  /** In addition to the usual ones. */
  headers: Readonly<Record<string, string>>;
  /** How the key is sent: in a header, or as a signature. */
  auth: { name: string; prefix: string } | RequestSigner;
  connectionsMax: number;
};

/** Authorizes requests that have a text as their body. */
export type RequestSigner = {
  /** The headers that authorize the request. Throws a `ProviderError` if there are no credentials. */
  sign(request: { method: string; url: string; body: string }, apiKey: string): Promise<Record<string, string>>;
  close(): Promise<void>;
};

const connectMs = 15_000;
const headerBytesMax = 64 * 1024;
/** Our own limit, not the upstream's: a connection becomes free within a submission's time. */
const busyMs = 1_000;
export function createMediaClient({ origin, auth, connectionsMax, headers }: MediaClientOptions): MediaClient {
  const client = createGuardedClient({ allowsPrivate: allowPrivateFor(origin), connectMs, headerBytesMax });
  const places = { kept: createSemaphore(connectionsMax), fresh: createSemaphore(connectionsMax) };
  const common = { "user-agent": "sluice", ...lowerNames(headers) };
  const authorizePlain = (apiKey: string | null): Record<string, string> =>
    apiKey === null || "sign" in auth ? {} : { [auth.name.toLowerCase()]: auth.prefix + apiKey };
  async function authorize({ method, path, body, apiKey }: MediaRequest): Promise<Record<string, string>> {
    if (apiKey === null || !("sign" in auth)) return authorizePlain(apiKey);
    return await auth.sign({ method, url: origin + path, body: typeof body === "string" ? body : "" }, apiKey);
  }

  async function open(
    request: MediaRequest,
    { connection, onSent }: { connection: "kept" | "fresh"; onSent?(): void },
  ): Promise<ExchangeAnswer> {
    const { method, path, body, timeoutMs, idleMs = timeoutMs, signal } = request;
    const authorized = await authorize(request);
    const leave = await acquireConnection(places, connection, request);
    try {
      const answer = await client.send(origin + path, {
        ...{ method, body, signal, connection },
        ...(onSent === undefined ? {} : { onSent }),
        headers: { ...common, ...lowerNames(request.headers ?? {}), ...authorized },
        timeouts: { connectMs, firstByteMs: timeoutMs, idleMs, totalMs: timeoutMs },
        onOver: leave,
      });
      request.onHead?.(answer.headers);
      return checkForm({
        ...answer,
        read: (limits) => translateWhile(answer.read(limits), (error) => translateError(error, signal)),
      });
    } catch (error) {
      leave();
      throw translateError(error, signal);
    }
  }

  return {
    send: (request) => open(request, { connection: "kept" }),
    async ask(request) {
      return await readAnswer(await open(request, { connection: "kept" }), request);
    },
    async sendOnce(request, read) {
      let isSent = false;
      const onSent = (): void => {
        isSent = true;
      };
      try {
        return { kind: "answered", answer: await read(await open(request, { connection: "fresh", onSent })) };
      } catch (error) {
        if (!isSent || !(error instanceof ProviderError)) throw error;
        return { kind: "ambiguous", error };
      }
    },
    async download(url, { signal, apiKey }) {
      try {
        const headers = { ...common, ...authorizePlain(apiKey) };
        const { read, drop } = await download(client, url, { origin, headers, signal });
        const bytes = Readable.from(
          translateWhile(read(), (error) => translateFileError(error, signal)),
          {
            objectMode: false,
          },
        );
        // Also if nothing was read.
        return bytes.once("close", drop);
      } catch (error) {
        throw translateFileError(error, signal);
      }
    },
    async close() {
      await client.close();
      if ("sign" in auth) await auth.close();
    },
  };
}

/** A request that must not be sent twice does not wait for a connection: another upstream may have one. */
async function acquireConnection(
  places: Record<"kept" | "fresh", Semaphore>,
  connection: "kept" | "fresh",
  { signal, timeoutMs }: MediaRequest,
): Promise<() => void> {
  if (connection === "fresh" && places.fresh.isFull()) {
    throw new ProviderError("overloaded", "All connections are in use.", { isIsolated: true, retryAfterMs: busyMs });
  }
  const late = AbortSignal.timeout(timeoutMs);
  return await places[connection].enter(AbortSignal.any([signal, late])).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new ProviderError("timeout", "No connection became free in time.", { cause });
  });
}

async function* translateWhile(
  chunks: AsyncIterable<Buffer>,
  translate: (error: unknown) => unknown,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* chunks;
  } catch (error) {
    throw translate(error);
  }
}

function checkForm(answer: ExchangeAnswer): ExchangeAnswer {
  const { status, headers } = answer;
  if ((headers["content-encoding"] ?? "identity") === "identity") return answer;
  answer.drop();
  throw new ProviderError("bad-answer", "The response is compressed, although the request did not allow it.", {
    detail: { status },
  });
}

export async function readAnswer(
  answer: ExchangeAnswer,
  { bytesMax, signal }: Pick<WholeRequest, "bytesMax" | "signal">,
): Promise<WholeAnswer> {
  const { status, headers } = answer;
  if (status < 300) return { status, headers, body: parseJson(String(await readWhole(answer, { bytesMax }))) };
  return { status, headers, body: await readRefusal(answer, signal) };
}

const refusalBytesMax = 64 * 1024;

/** Reads an error response. If that fails, the status alone is enough. */
export async function readRefusal(answer: ExchangeAnswer, signal: AbortSignal): Promise<unknown> {
  try {
    return parseRefusal(String(await readWhole(answer, { bytesMax: refusalBytesMax })));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

const kindsByReason = {
  timeout: "timeout",
  unreachable: "unreachable",
  overloaded: "overloaded",
  "bad-answer": "bad-answer",
  "too-large": "bad-answer",
  "wrong-type": "bad-answer",
  "forbidden-address": "bad-answer",
} as const satisfies Record<GuardedFetchError["reason"], ProviderErrorKind>;

function translateError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!(error instanceof GuardedFetchError)) return error;
  const { cause } = error;
  if (!(cause instanceof UpstreamError))
    return new ProviderError(kindsByReason[error.reason], error.message, { cause });
  // Our own part of the exchange failed, such as reading an input.
  if (cause.cause instanceof ProviderError) return cause.cause;
  return new ProviderError(kindsByReason[error.reason], cause.message, { cause: cause.cause ?? cause });
}

/** Concerns one file, and says nothing about the vendor. */
function translateFileError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!(error instanceof GuardedFetchError)) return error;
  const { reason, message } = error;
  return new ProviderError(kindsByReason[reason], message, { isIsolated: true, detail: { reason }, cause: error });
}

function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
