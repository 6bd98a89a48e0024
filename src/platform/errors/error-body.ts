import { type ErrorCode, getErrorEntry } from "./error-table.ts";

/** The wire form of an error; to callers of Anthropic's API, `type` says that it is one. */
export type ErrorBody = {
  type?: "error";
  error: { message: string; type: string; param: string | null; code: string };
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

/** What Anthropic's API calls errors of a kind; its clients go by this, and by the status. */
export function getAnthropicType(code: ErrorCode): string {
  if (code === "upstream_timeout") return "timeout_error";
  const { status } = getErrorEntry(code);
  return typesOfStatuses[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** The same error; our own code and field stay beside Anthropic's fields. */
export function toAnthropicBody({ error, request_id }: ErrorBody, code: ErrorCode): ErrorBody {
  // Worded so that clients who look for Anthropic's sentence find it, and shorten the conversation.
  const message = code === "context_length_exceeded" ? `prompt is too long: ${error.message}` : error.message;
  return { type: "error", error: { ...error, type: getAnthropicType(code), message }, request_id };
}
