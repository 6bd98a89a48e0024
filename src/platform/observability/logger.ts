import { systemClock } from "../../lib/clock.ts";
import { presentLogLine } from "./present-log-line.ts";
import { scrubSecrets } from "./scrub-secrets.ts";
import { type LogFields, stringifyFields } from "./stringify-fields.ts";

/** One line: a message, with fields or without. An error alone brings its own message. */
type Log = {
  (fields: LogFields, message: string): void;
  (what: Error | string): void;
};

export type Logger = { debug: Log; info: Log; warn: Log; error: Log };

type LoggerParts = {
  level: keyof Logger;
  format: "json" | "pretty";
  write(text: string): void;
};

const weights = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<keyof Logger, number>;

/** Structured lines: `level`, `time`, fields and `msg`. Secrets are taken out of every line before it is written. */
export function createLogger(parts: LoggerParts): Logger {
  const present = parts.format === "pretty" ? presentLogLine : (line: string) => line;

  function createLog(level: keyof Logger): Log {
    if (weights[level] < weights[parts.level]) return () => {};
    const presentStart = createLineStart(level);
    function writeLine(fields: LogFields, message: string): void {
      // Looked through one by one: joined, they would be copied for it.
      const inner = scrubSecrets(stringifyFields(fields)).slice(1, -1);
      const end = scrubSecrets(JSON.stringify(message));
      parts.write(present(`${presentStart()}${inner === "" ? "" : `,${inner}`},"msg":${end}}\n`));
    }
    return (what: LogFields | Error | string, message?: string): void => {
      if (typeof what === "string") writeLine({}, what);
      else if (what instanceof Error) writeLine({ error: what }, what.message);
      else writeLine(what, message ?? "");
    };
  }

  return { debug: createLog("debug"), info: createLog("info"), warn: createLog("warn"), error: createLog("error") };
}

/** The level and the time. Under load many lines belong to one millisecond, and its text is dear. */
function createLineStart(level: keyof Logger): () => string {
  let lastMs = Number.NaN;
  let text = "";
  return () => {
    const now = systemClock.now();
    if (now.getTime() !== lastMs) {
      lastMs = now.getTime();
      text = `{"level":"${level}","time":"${now.toISOString()}"`;
    }
    return text;
  };
}
