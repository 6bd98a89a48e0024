import { systemClock } from "../../lib/clock.ts";
import { presentLogLine } from "./present-log-line.ts";
import { scrubSecrets } from "./scrub-secrets.ts";
import { type LogFields, stringifyFields } from "./stringify-fields.ts";

/** Writes one line. An error alone supplies its own message. */
type Log = {
  (fields: LogFields, message: string): void;
  (what: Error | string): void;
};

export type Logger = { debug: Log; info: Log; warn: Log; error: Log };

type LoggerOptions = {
  level: keyof Logger;
  format: "json" | "pretty";
  write(text: string): void;
};

const weights = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<keyof Logger, number>;

/** Structured lines: `level`, `time`, fields and `msg`. Secrets are removed from every line. */
export function createLogger(options: LoggerOptions): Logger {
  const present = options.format === "pretty" ? presentLogLine : (line: string) => line;

  function createLog(level: keyof Logger): Log {
    if (weights[level] < weights[options.level]) return () => {};
    const presentStart = createLineStart(level);
    function writeLine(fields: LogFields, message: string): void {
      // Scrubbed separately: joining first would copy them.
      const inner = scrubSecrets(stringifyFields(fields)).slice(1, -1);
      const end = scrubSecrets(JSON.stringify(message));
      options.write(present(`${presentStart()}${inner === "" ? "" : `,${inner}`},"msg":${end}}\n`));
    }
    return (what: LogFields | Error | string, message?: string): void => {
      if (typeof what === "string") writeLine({}, what);
      else if (what instanceof Error) writeLine({ error: what }, what.message);
      else writeLine(what, message ?? "");
    };
  }

  return { debug: createLog("debug"), info: createLog("info"), warn: createLog("warn"), error: createLog("error") };
}

/** Caches the timestamp text: under load many lines share a millisecond. */
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
