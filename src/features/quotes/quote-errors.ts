import type { ErrorCode } from "../../platform/errors/error-table.ts";

/** Errors of `X-Quote-Id`. */
export const quoteErrors = [
  "quote_not_found",
  "quote_expired",
  "quote_mismatch",
] as const satisfies readonly ErrorCode[];
