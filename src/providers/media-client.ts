import { Readable } from "node:stream";
import { createDownloader } from "../platform/net/download.ts";
import { GuardedFetchError } from "../platform/net/guarded-connector.ts";
import { type ExchangeAnswer, ExchangeError, readWhole } from "../platform/net/open-exchange.ts";
import type { UpstreamHeaders } from "../platform/net/upstream-call.ts";
import { type ClientRequest, createUpstreamClient } from "../platform/net/upstream-client.ts";
import { ProviderError, type ProviderErrorKind } from "./contract.ts";
import { parseJson } from "./openai-compatible/json-value.ts";

/** How providers of media talk to their vendor. Everything throws a `ProviderError`, or the reason of the signal. */
export type MediaClient = {
  /** Answers when the head has come. */
  send(request: MediaRequest): Promise<ExchangeAnswer>;
  /** The whole answer. */
  ask(request: WholeRequest): Promise<WholeAnswer>;
  /** For what must not be sent twice. Throws only where it is certain that the vendor has not got the whole request. */
  sendOnce<T>(request: MediaRequest, read: (answer: ExchangeAnswer) => Promise<T>): Promise<OnceOutcome<T>>;
  /** What the vendor made, from the address that it told. The key goes to the vendor's own origin only. */
  download(url: string, options: { signal: AbortSignal; apiKey: string | null }): Promise<Readable>;
  close(): Promise<void>;
};

export type MediaRequest = Pick<ClientRequest, "method" | "path" | "body" | "signal"> & {
  apiKey: string | null;
  headers?: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Between two pieces of data; absent, as long as all of it may take. */
  idleMs?: number;
};

type WholeRequest = MediaRequest & { bytesMax: number };

export type WholeAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** Of JSON; `undefined` where it is none. */
  body: unknown;
};

type OnceOutcome<T> = { kind: "answered"; answer: T } | { kind: "ambiguous"; error: ProviderError };

export type MediaClientOptions = {
  origin: string;
  /** Beyond the usual ones. */
  headers: Readonly<Record<string, string>>;
  /** How the key is sent. */
  authHeader: { name: string; prefix: string };
  connectionsMax: number;
};

const connectTimeoutMs = 15_000;

export function createMediaClient(options: MediaClientOptions): MediaClient {
  const { origin, authHeader, connectionsMax } = options;
  const client = createUpstreamClient({ origin, connectionsMax, connectTimeoutMs });
  const downloader = createDownloader({ origin });
  const common = { "user-agent": "sluice", ...lowerNames(options.headers) };
  const authorize = (apiKey: string | null): Record<string, string> =>
    apiKey === null ? {} : { [authHeader.name.toLowerCase()]: authHeader.prefix + apiKey };

  async function open(
    request: MediaRequest,
    manner: Pick<ClientRequest, "connection" | "onSent">,
  ): Promise<ExchangeAnswer> {
    const { apiKey, headers = {}, timeoutMs, idleMs = timeoutMs, signal } = request;
    try {
      const answer = await client.send({
        ...request,
        ...manner,
        headers: { ...common, ...lowerNames(headers), ...authorize(apiKey) },
        timeouts: { headMs: timeoutMs, idleMs, totalMs: timeoutMs },
      });
      return checkForm({ ...answer, read: (limits) => translateWhile(answer.read(limits), signal) });
    } catch (error) {
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
        const { read, drop } = await downloader.open(url, { signal, headers: { ...common, ...authorize(apiKey) } });
        const bytes = Readable.from(translateWhile(read(), signal), { objectMode: false });
        // Also when nobody began to read.
        return bytes.once("close", drop);
      } catch (error) {
        throw translateError(error, signal);
      }
    },
    async close() {
      await Promise.all([client.close(), downloader.close()]);
    },
  };
}

async function* translateWhile(
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* chunks;
  } catch (error) {
    throw translateError(error, signal);
  }
}

function checkForm(answer: ExchangeAnswer): ExchangeAnswer {
  const { status, headers } = answer;
  if ((headers["content-encoding"] ?? "identity") === "identity") return answer;
  answer.drop();
  throw new ProviderError("bad-answer", "The answer is compressed, though nobody asked for that.", {
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

/** What a vendor says to a request that it does not take. The status alone tells enough when that is broken. */
export async function readRefusal(answer: ExchangeAnswer, signal: AbortSignal): Promise<unknown> {
  try {
    return parseJson(String(await readWhole(answer, { bytesMax: refusalBytesMax })));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

const kindsByExchange = {
  timeout: "timeout",
  unreachable: "unreachable",
  overloaded: "overloaded",
  "bad-answer": "bad-answer",
  "too-large": "bad-answer",
} as const satisfies Record<ExchangeError["kind"], ProviderErrorKind>;

function translateError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ExchangeError) {
    // It was our own part of the exchange that failed.
    if (error.cause instanceof ProviderError) return error.cause;
    return new ProviderError(kindsByExchange[error.kind], error.message, { cause: error.cause ?? error });
  }
  if (error instanceof GuardedFetchError) {
    // It concerns one file; how the vendor itself does is another matter.
    const kind = error.reason === "timeout" || error.reason === "unreachable" ? error.reason : "bad-answer";
    return new ProviderError(kind, error.message, { isIsolated: true, detail: { reason: error.reason }, cause: error });
  }
  return error;
}

function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
