import { type ErrorCode, getErrorEntry } from "./error-table.ts";

/** An error on the wire. Only Anthropic's API has the outer `type` and `details`. */
export type ErrorBody = {
  type?: "error";
  error: { message: string; type: string; param: string | null; code: string; details?: { error_code: string } };
  request_id: string;
};

const typesOfStatuses: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
};

/** Anthropic's error type; its clients branch on this and on the status. */
export function getAnthropicType(code: ErrorCode): string {
  if (code === "upstream_timeout") return "timeout_error";
  const { status } = getErrorEntry(code);
  return typesOfStatuses[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** Anthropic's codes for fields that a model does not support: its clients then continue without the field. */
const codesOfFields: Readonly<Record<string, string>> = { thread: "thread_unsupported_request" };

function findDetails(code: ErrorCode, param: string | null): { details?: { error_code: string } } {
  const found = code === "unsupported_capability" && param !== null ? codesOfFields[param] : undefined;
  return found === undefined ? {} : { details: { error_code: found } };
}

/** Anthropic's error body, with our `code` and `param` added. */
export function toAnthropicBody({ error, request_id }: ErrorBody, code: ErrorCode): ErrorBody {
  // Anthropic's clients search for this sentence to shorten the conversation.
  const message = code === "context_length_exceeded" ? `prompt is too long: ${error.message}` : error.message;
  const details = findDetails(code, error.param);
  return { type: "error", error: { ...error, type: getAnthropicType(code), message, ...details }, request_id };
}
