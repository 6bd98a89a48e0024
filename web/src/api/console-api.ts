import createClient from "openapi-fetch";
import type { paths } from "./console-paths.ts";
import { createConnection } from "./create-connection.ts";

type ApiErrorFields = {
  status: number;
  code: string;
  message: string;
  param?: string | null;
  retryAfterSeconds?: number | null;
  requestId?: string | null;
};

/** An error response of the API, or a failed request. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The invalid field, if the API names one. */
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** For finding the request in the log; null if the server did not respond. */
  readonly requestId: string | null;

  constructor({ status, code, message, param, retryAfterSeconds, requestId }: ApiErrorFields) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param ?? null;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
    this.requestId = requestId ?? null;
  }
}

const baseUrl = "/console/api";
const probeMsMax = 5_000;
const gatewayErrors: readonly number[] = [502, 503, 504];

/** The session cookie is HttpOnly. */
export const api = createClient<paths>({ baseUrl, credentials: "same-origin" });

export const connection = createConnection({ probe: probeServer, random: Math.random });

let lastRequestId: string | null = null;

/** Id of the latest response; a page that crashes most likely crashed on it. */
export function getLastRequestId(): string | null {
  return lastRequestId;
}

type Answer<Data> = { data?: Data; error?: unknown; response: Response };

/** Returns the response data, or throws an `ApiError`. */
export async function ask<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const answer = await call.catch((cause: unknown) => {
    if (!isAbort(cause)) connection.suspect();
    throw createUnreachable();
  });
  lastRequestId = answer.response.headers.get("x-request-id") ?? lastRequestId;
  if (!answer.response.ok) {
    const error = readError(answer);
    if (isUnreachable(error)) connection.suspect();
    throw error;
  }
  // A 204 has no data, and its type says so.
  return answer.data as Data;
}

/** Whether the server is unreachable: no response, a proxy's gateway error, or a server that is shutting down. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const isProxyAnswer = gatewayErrors.includes(error.status) && error.code === "unreadable";
  return error.code === "unreachable" || error.code === "shutting_down" || isProxyAnswer;
}

function createUnreachable(): ApiError {
  return new ApiError({
    status: 0,
    code: "unreachable",
    message: "The server cannot be reached. Check your connection, then try again.",
  });
}

function isAbort(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}

async function probeServer(): Promise<boolean> {
  try {
    const { response } = await api.GET("/site", { cache: "no-store", signal: AbortSignal.timeout(probeMsMax) });
    return !gatewayErrors.includes(response.status);
  } catch {
    // A failed probe means unreachable.
    return false;
  }
}

function readError({ error, response }: Answer<unknown>): ApiError {
  const envelope = isRecord(error) ? error : {};
  const body = isRecord(envelope.error) ? envelope.error : {};
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiError({
    status: response.status,
    code: typeof body.code === "string" ? body.code : "unreadable",
    message: typeof body.message === "string" ? body.message : "The server sent an unreadable response. Try again.",
    param: typeof body.param === "string" ? body.param : null,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : null,
    requestId: typeof envelope.request_id === "string" ? envelope.request_id : response.headers.get("x-request-id"),
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
