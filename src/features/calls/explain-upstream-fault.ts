import { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderError } from "../../providers/contract.ts";
import { failureTable, type UpstreamFaultKind } from "../../providers/failures/failure-table.ts";

const messages = {
  upstream_timeout: "The model did not answer in time.",
  upstream_unavailable: "The model could not answer. Retry shortly.",
} as const;

/** The customer's error for an upstream failure. It contains neither the upstream's name nor its message. */
export function explainUpstreamFault(cause: ProviderError, kind: UpstreamFaultKind): AppError {
  const { code } = failureTable[kind];
  return new AppError(code, messages[code], { cause, headers: presentRetry(cause.retryAfterMs) });
}

/** `Retry-After`, if known. */
export function presentRetry(retryAfterMs: number | null): Record<string, string> {
  return retryAfterMs === null ? {} : { "retry-after": String(Math.max(Math.ceil(retryAfterMs / 1000), 1)) };
}
