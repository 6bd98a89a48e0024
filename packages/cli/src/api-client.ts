import { setTimeout as wait } from "node:timers/promises";
import { readApiError } from "./api-error.ts";
import { CliError } from "./cli-error.ts";
import { decideAgain, type FailedAttempt } from "./decide-again.ts";
import { version } from "./version.ts";

export type Call = {
  method: "GET" | "POST" | "DELETE";
  /** A URL, or a path below the base URL. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: unknown;
  /** Called for every attempt. */
  makeBody?: () => ReadableStream<Uint8Array>;
  /** Idempotent; reads always are. */
  isRepeatable?: boolean;
  /** Timeout for the response head. */
  timeoutMs?: number;
  signal?: AbortSignal;
};

export type ApiClient = {
  /** Returns a successful response with an unread body; throws otherwise. */
  open(call: Call): Promise<Response>;
  /** The response as JSON. */
  ask<T>(call: Call): Promise<T>;
};

type ClientOptions = {
  baseUrl: string;
  /** Sent only below the base URL. */
  key: string | null;
  onRetry(sentence: string): void;
};

const timeoutMsUsual = 60_000;
const answerBytesMax = 32 * 1024 * 1024;
/** The connection failed before anything was sent. */
const unsentCodes = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

export function createApiClient(options: ClientOptions): ApiClient {
  async function open(call: Call): Promise<Response> {
    const isRepeatable = call.isRepeatable ?? call.method === "GET";
    for (let attempt = 1; ; attempt += 1) {
      const { response, failure, error } = await tryOnce(options, call);
      if (response !== null) return response;
      const delayMs = decideAgain(failure, { attempt, isRepeatable, random: Math.random() });
      if (delayMs === null || call.signal?.aborted) throw error;
      options.onRetry(`${error.message} Trying again in ${(delayMs / 1000).toFixed(1)} s …`);
      await wait(delayMs, undefined, { ...(call.signal === undefined ? {} : { signal: call.signal }) });
    }
  }
  return {
    open,
    async ask<T>(call: Call): Promise<T> {
      const text = await readText(await open(call));
      try {
        return JSON.parse(text) as T;
      } catch (cause) {
        throw new CliError("The server's response is not JSON.", { remedy: "Is this a Sluice server?", cause });
      }
    },
  };
}

type Attempt =
  | { response: Response; failure: null; error: null }
  | { response: null; failure: FailedAttempt; error: CliError };

async function tryOnce(options: ClientOptions, call: Call): Promise<Attempt> {
  const url = `${options.baseUrl}${call.path}`;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), call.timeoutMs ?? timeoutMsUsual);
  try {
    const response = await fetch(url, {
      method: call.method,
      headers: listHeaders(options, call),
      // Never send the key to a redirect target.
      redirect: "manual",
      signal: AbortSignal.any([late.signal, ...(call.signal === undefined ? [] : [call.signal])]),
      ...presentBody(call),
    });
    if (response.ok) return { response, failure: null, error: null };
    const error = readApiError(response.status, await readText(response), response.headers.get("x-request-id"));
    return { response: null, failure: { status: response.status, headers: response.headers, isUnsent: false }, error };
  } catch (cause) {
    if (call.signal?.aborted) throw cause;
    const isUnsent = unsentCodes.includes(readCode(cause));
    const error = explainSilence(options.baseUrl, cause, late.signal.aborted);
    return { response: null, failure: { status: null, headers: null, isUnsent }, error };
  } finally {
    clearTimeout(timer);
  }
}

function listHeaders({ key }: ClientOptions, call: Call): Record<string, string> {
  return {
    "user-agent": `sluice-cli/${version}`,
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(call.json === undefined ? {} : { "content-type": "application/json" }),
    ...call.headers,
  };
}

function presentBody({ json, makeBody }: Call): Pick<RequestInit, "body"> & { duplex?: "half" } {
  if (json !== undefined) return { body: JSON.stringify(json) };
  return makeBody === undefined ? {} : { body: makeBody(), duplex: "half" };
}

/** Reads the whole body, bounded. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new CliError("The server's response is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function readCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

function explainSilence(url: string, cause: unknown, isLate: boolean): CliError {
  const { host } = new URL(url);
  if (isLate) return new CliError(`${host} did not respond in time.`, { cause });
  const code = readCode(cause);
  const remedy = "Check that the server is running and the address is right. Use --site for another server.";
  if (code === "ENOTFOUND") return new CliError(`Cannot resolve the host ${host}.`, { remedy, cause });
  if (unsentCodes.includes(code)) return new CliError(`Cannot connect to ${host}.`, { remedy, cause });
  return new CliError(`The connection to ${host} was lost.`, { cause });
}
