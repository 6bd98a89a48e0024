import { AppError } from "../errors/app-error.ts";
import type { SpanFailure } from "./span.ts";

/** The error code or class, never the message, which may quote anything. */
export function toSpanFailure(error: unknown): SpanFailure {
  if (error instanceof AppError) return { errorType: error.code };
  return { errorType: error instanceof Error ? error.name : "unknown" };
}
