import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { isDatabaseUnavailable } from "../database/database.ts";
import { AppError } from "../errors/app-error.ts";
import { type ErrorBody, toAnthropicBody } from "../errors/error-body.ts";
import { type ErrorCode, getErrorEntry } from "../errors/error-table.ts";
import { describeValidationProblem } from "../errors/validation-problem.ts";
import { isAnthropicCall } from "./anthropic-form.ts";
import { createMissing } from "./path-params.ts";
import { explainUnstorable } from "./storable-text.ts";

export type ErrorAnswer = { status: number; headers: Record<string, string>; body: ErrorBody };

/** The only place that turns an error into a response. */
export function presentError(error: AppError, requestId: string): ErrorAnswer {
  const entry = getErrorEntry(error.code);
  return {
    status: entry.status,
    headers: {
      ...(entry.retryAfterSeconds === undefined ? {} : { "retry-after": String(entry.retryAfterSeconds) }),
      ...(entry.forbidsRetry === undefined ? {} : { "x-should-retry": "false" }),
      ...error.headers,
    },
    body: {
      error: {
        message: error.message,
        type: entry.type,
        param: error.param,
        code: entry.wireCode ?? error.code,
      },
      request_id: requestId,
    },
  };
}

/** Presents an error in OpenAI's or Anthropic's form, as the request requires. */
export function presentErrorTo(request: FastifyRequest, error: AppError): ErrorAnswer {
  const answer = presentError(error, request.id);
  return isAnthropicCall(request) ? { ...answer, body: toAnthropicBody(answer.body, error.code) } : answer;
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const appError = toAppError(error, request);
  request.failure = appError;
  const answer = presentErrorTo(request, appError);
  // Fastify closes the connection on every body error; `disposeOfBody` decides whether that is needed. Without the header,
  // Node would close connections unannounced, and clients would lose their next request.
  if (reply.hasHeader("connection")) reply.header("connection", reply.raw.shouldKeepAlive ? "keep-alive" : "close");
  return (
    reply
      .code(answer.status)
      .headers({ ...answer.headers, "x-request-id": request.id })
      .type("application/json; charset=utf-8")
      // The schemas of routes with both forms contain only OpenAI's.
      .send(answer.body.type === undefined ? answer.body : JSON.stringify(answer.body))
  );
}

/** Maps Fastify's error codes to ours. */
const frameworkErrors: Record<string, { code: ErrorCode; message: string; headers?: Record<string, string> }> = {
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: "invalid_json", message: "The body is empty. Send one JSON value." },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: "malformed_request",
    message: "The body's length differs from Content-Length. Send the exact length.",
    headers: { connection: "close" },
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: "unsupported_media_type",
    message: "The body's content type is not supported. Send Content-Type: application/json.",
  },
  // Only for the method `QUERY`, which requires a body.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: {
    code: "unsupported_media_type",
    message: "The content type is missing. Send Content-Type: application/json.",
  },
  FST_ERR_BAD_URL: { code: "not_found", message: "The path is not a valid URL. Percent-encode it." },
  FST_ERR_MAX_PARAM_LENGTH: { code: "not_found", message: "There is nothing at this path: the id is too long." },
  FST_ERR_NOT_FOUND: { code: "not_found", message: "There is nothing at this path." },
};

/** Translates any error for the caller. The details of unknown errors stay in the log. */
export function toAppError(error: unknown, request: FastifyRequest): AppError {
  if (error instanceof AppError) return error;
  const { code = "", validation, validationContext } = error as Partial<FastifyError>;
  if (validation !== undefined && validationContext === "params") {
    const [finding] = validation;
    return createMissing({ pattern: finding?.params.pattern, name: finding?.instancePath.slice(1) ?? "" });
  }
  if (validation !== undefined) {
    const { code: problem, message, param } = describeValidationProblem(validation, validationContext ?? "body");
    return new AppError(problem, message, param === null ? {} : { param });
  }
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new AppError(
      "payload_too_large",
      `The body exceeds ${request.routeOptions.bodyLimit} bytes. Send less at a time.`,
    );
  }
  const known = frameworkErrors[code];
  if (known !== undefined) return new AppError(known.code, known.message, { headers: known.headers ?? {} });
  if (isDatabaseUnavailable(error)) {
    return new AppError("overloaded", "The gateway is temporarily unavailable. Retry after Retry-After.", {
      cause: error,
    });
  }
  const unstorable = explainUnstorable(error, request.body);
  if (unstorable !== null) return unstorable;
  return new AppError(
    "internal_error",
    "The gateway failed unexpectedly. Retry, and report the request_id if it persists.",
    {
      cause: error,
    },
  );
}
