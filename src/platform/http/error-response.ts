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

/** The only place that turns an error into an answer. */
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

/** An error in the form that the caller of a request understands. */
export function presentErrorTo(request: FastifyRequest, error: AppError): ErrorAnswer {
  const answer = presentError(error, request.id);
  return isAnthropicCall(request) ? { ...answer, body: toAnthropicBody(answer.body, error.code) } : answer;
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const appError = toAppError(error, request);
  request.failure = appError;
  const answer = presentErrorTo(request, appError);
  // The framework ends the connection whenever a body was not good; `disposeOfBody` knows whether that is needed.
  reply.removeHeader("connection");
  return (
    reply
      .code(answer.status)
      .headers({ ...answer.headers, "x-request-id": request.id })
      .type("application/json; charset=utf-8")
      // Not all routes that have both forms have both in their schemas.
      .send(answer.body.type === undefined ? answer.body : JSON.stringify(answer.body))
  );
}

/** What the framework calls an error, and what our table calls it. */
const frameworkErrors: Record<string, { code: ErrorCode; message: string; headers?: Record<string, string> }> = {
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: "invalid_json", message: "The body is empty. Send one JSON value." },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: "malformed_request",
    message: "The body does not have the length that Content-Length says.",
    headers: { connection: "close" },
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: "unsupported_media_type",
    message: "The body's content type is not accepted here. Send Content-Type: application/json.",
  },
  // Only of `QUERY`, which is nothing without a body.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: {
    code: "unsupported_media_type",
    message: "The content type is missing. Send Content-Type: application/json.",
  },
  FST_ERR_BAD_URL: { code: "not_found", message: "The path is not a valid address. Encode it as a URL." },
  FST_ERR_MAX_PARAM_LENGTH: { code: "not_found", message: "There is nothing at this path: no id is that long." },
  FST_ERR_NOT_FOUND: { code: "not_found", message: "There is nothing at this path." },
};

/** What an error is to the caller; whatever is not one of ours stays inside. */
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
    return new AppError("payload_too_large", `The body is larger than ${request.routeOptions.bodyLimit} bytes.`);
  }
  const known = frameworkErrors[code];
  if (known !== undefined) return new AppError(known.code, known.message, { headers: known.headers ?? {} });
  if (isDatabaseUnavailable(error)) {
    return new AppError("overloaded", "The gateway cannot take requests for a moment. Retry shortly.", {
      cause: error,
    });
  }
  const unstorable = explainUnstorable(error, request.body);
  if (unstorable !== null) return unstorable;
  return new AppError("internal_error", "Something in the gateway went wrong. Report it with the request_id.", {
    cause: error,
  });
}
