import pino from "pino";
import { presentLogLine } from "./present-log-line.ts";
import { scrubSecrets } from "./scrub-secrets.ts";

export type Logger = pino.Logger;

type LoggerParts = {
  level: "debug" | "info" | "warn" | "error";
  format: "json" | "pretty";
  write(text: string): void;
};

/** Structured lines: `level`, `time`, `msg` and fields. Secrets are taken out of every line before it is written. */
export function createLogger(parts: LoggerParts): Logger {
  const present = parts.format === "pretty" ? presentLogLine : (line: string) => line;
  return pino(
    {
      level: parts.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: presentError },
    },
    { write: (line: string) => parts.write(scrubSecrets(present(line))) },
  );
}

/**
 * What a log may know of an error. Messages and stacks are ours or a library's; a database error's `detail` and
 * `where` quote values that customers sent, so they stay out.
 */
function presentError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    name: error.name,
    message: error.message,
    ...("code" in error ? { code: error.code } : {}),
    ...("constraint" in error ? { constraint: error.constraint } : {}),
    ...("detail" in error && error.name === "AppError" ? { detail: error.detail } : {}),
    ...(error.cause === undefined ? {} : { cause: presentError(error.cause) }),
    stack: error.stack,
  };
}
