import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { ProviderError } from "../../providers/contract.ts";
import { failureTable, type UpstreamFaultKind } from "../../providers/failures/failure-table.ts";
import { quoteErrors } from "../quotes/index.ts";

/** Errors of an endpoint that checks the fields of its body against a model. */
export const fieldErrors = [
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "unsupported_capability",
] as const satisfies readonly ErrorCode[];

/** Errors of every paid call. */
export const callErrors = [
  "content_policy_violation",
  "insufficient_balance",
  "daily_spend_cap",
  "key_budget_exceeded",
  "model_unavailable",
  "idempotency_in_progress",
  "already_completed",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
  "token_limit_exceeded",
  "concurrency_limit_exceeded",
  "upstream_unavailable",
  "upstream_timeout",
  "model_unroutable",
  ...quoteErrors,
] as const satisfies readonly ErrorCode[];

/** The parts of a failure's explanation that differ between endpoints. */
export type FailureTexts = {
  tooLong: { code: ErrorCode; message: string; param: string };
  /** The field that a content filter refuses; by default the one that the upstream named. */
  contentParam?: string;
  /** Replaces the usual text for a rejected field; `null` keeps it. */
  explainRejection?(param: string | null): { code: ErrorCode; message: string } | null;
};

/** The caller's error for a failed call. It names no upstream and quotes none: the log has the upstream's own words. */
export function explainCallFailure(error: ProviderError, texts: FailureTexts): AppError {
  const { kind, param } = error;
  switch (kind) {
    case "rejected": {
      const { code, message } = texts.explainRejection?.(param) ?? explainRejection(param);
      return createError(error, { code, message, param });
    }
    case "content-refused": {
      const message = "The request was refused for its content.";
      return createError(error, { code: "content_policy_violation", message, param: texts.contentParam ?? param });
    }
    case "too-long":
      return createError(error, texts.tooLong);
    default:
      return explainUpstreamFault(error, kind);
  }
}

function explainRejection(param: string | null): { code: ErrorCode; message: string } {
  const message =
    param === null
      ? "The model rejected this request. Check its fields."
      : `The model rejected this value of \`${param}\`. Change it.`;
  return { code: "invalid_parameter", message };
}

type Explanation = { code: ErrorCode; message: string; param: string | null };

function createError(cause: ProviderError, { code, message, param }: Explanation): AppError {
  return new AppError(code, message, param === null ? { cause } : { cause, param });
}

const messages = {
  upstream_timeout: "The model did not answer in time.",
  upstream_unavailable: "The model could not answer. Retry shortly.",
} as const;

/** The customer's error for an upstream failure. It contains neither the upstream's name nor its message. */
function explainUpstreamFault(cause: ProviderError, kind: UpstreamFaultKind): AppError {
  const { code } = failureTable[kind];
  return new AppError(code, messages[code], { cause, headers: presentRetry(cause.retryAfterMs) });
}

/** `Retry-After`, if known. */
export function presentRetry(retryAfterMs: number | null): Record<string, string> {
  return retryAfterMs === null ? {} : { "retry-after": String(Math.max(Math.ceil(retryAfterMs / 1000), 1)) };
}

/** An adapter that throws anything but a `ProviderError` has a bug: the call fails as with a bad answer. */
export function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError("bad-answer", "The adapter threw an error.", { cause: error });
}

/** Any other exception is a bug of the gateway. */
export function toAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError("internal_error", "The gateway failed to process this request. Report it with the request_id.", {
    cause,
  });
}
