import createClient from "openapi-fetch";
import type { paths } from "./console-paths.ts";

/** An answer that is not what was asked for, as the API describes it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The field that is wrong, where one is. */
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;

  constructor({ status, code, message, param, retryAfterSeconds }: ApiErrorFields) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

type ApiErrorFields = {
  status: number;
  code: string;
  message: string;
  param: string | null;
  retryAfterSeconds: number | null;
};

/** The session travels in a cookie that no script can read. */
export const api = createClient<paths>({ baseUrl: "/console/api", credentials: "same-origin" });

type Answer<Data> = { data?: Data; error?: unknown; response: Response };

/** What was asked for; anything else becomes an `ApiError`. */
export async function ask<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const answer = await call.catch(() => {
    throw new ApiError({
      status: 0,
      code: "unreachable",
      message: "The server cannot be reached. Check the connection, then try again.",
      param: null,
      retryAfterSeconds: null,
    });
  });
  if (!answer.response.ok) throw readError(answer);
  // An answer without a body (204) has no data, and its type says so.
  return answer.data as Data;
}

function readError({ error, response }: Answer<unknown>): ApiError {
  const body = isRecord(error) && isRecord(error.error) ? error.error : {};
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiError({
    status: response.status,
    code: typeof body.code === "string" ? body.code : "unreadable",
    message: typeof body.message === "string" ? body.message : "The server gave an answer that cannot be read.",
    param: typeof body.param === "string" ? body.param : null,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : null,
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
