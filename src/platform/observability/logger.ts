import pino from "pino";
import { systemClock } from "../../lib/clock.ts";
import { presentLogLine } from "./present-log-line.ts";
import { scrubSecrets } from "./scrub-secrets.ts";

export type Logger = pino.Logger;

type LoggerParts = {
  level: "debug" | "info" | "warn" | "error";
  format: "json" | "pretty";
  write(text: string): void;
};

/** An error can be its own cause; nobody reads further than this. */
const causesMax = 5;

/** Structured lines: `level`, `time`, `msg` and fields. Secrets are taken out of every line before it is written. */
export function createLogger(parts: LoggerParts): Logger {
  const present = parts.format === "pretty" ? presentLogLine : (line: string) => line;
  return pino(
    {
      level: parts.level,
      base: null,
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
      errorKey: "error",
      serializers: { error: (error) => presentError(error), err: (error) => presentError(error) },
    },
    { write: (line: string) => parts.write(scrubSecrets(present(line))) },
  );
}

/** Under load many lines belong to one millisecond, and its text is dear. */
function createTimestamp(): () => string {
  let lastMs = Number.NaN;
  let text = "";
  return () => {
    const now = systemClock.now();
    if (now.getTime() !== lastMs) {
      lastMs = now.getTime();
      text = `,"time":"${now.toISOString()}"`;
    }
    return text;
  };
}

/**
 * What a log may know of an error. Messages and stacks are ours or a library's; a database error's `detail` and
 * `where` quote values that customers sent, so they stay out.
 */
function presentError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    name: error.name,
    message: error.message,
    ...("code" in error ? { code: error.code } : {}),
    ...("constraint" in error ? { constraint: error.constraint } : {}),
    ...("detail" in error && error.name === "AppError" ? { detail: error.detail } : {}),
    ...(error.cause === undefined || depth >= causesMax ? {} : { cause: presentError(error.cause, depth + 1) }),
    stack: error.stack,
  };
}
