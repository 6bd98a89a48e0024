import { systemClock } from "../../lib/clock.ts";
import { presentLogLine } from "./present-log-line.ts";
import { scrubSecrets } from "./scrub-secrets.ts";
import { type LogFields, stringifyFields } from "./stringify-fields.ts";

/** One line: its fields and a message, or one of them. The message of an error alone is the error's own. */
type Log = (what: LogFields | Error | string, message?: string) => void;

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
  const presentTime = createTimestamp();

  function createLog(level: keyof Logger): Log {
    if (weights[level] < weights[parts.level]) return () => {};
    const start = `{"level":"${level}","time":"`;
    const writeLine = (fields: string, message: string | undefined): void => {
      const end = message === undefined ? "}\n" : `,"msg":${JSON.stringify(message)}}\n`;
      parts.write(scrubSecrets(present(`${start}${presentTime()}"${fields}${end}`)));
    };
    return (what, message) => {
      if (typeof what === "string") writeLine("", what);
      else if (what instanceof Error) writeLine(stringifyFields({ error: what }), message ?? what.message);
      else writeLine(stringifyFields(what), message);
    };
  }

  return { debug: createLog("debug"), info: createLog("info"), warn: createLog("warn"), error: createLog("error") };
}

/** Under load many lines belong to one millisecond, and its text is dear. */
function createTimestamp(): () => string {
  let lastMs = Number.NaN;
  let text = "";
  return () => {
    const now = systemClock.now();
    if (now.getTime() !== lastMs) {
      lastMs = now.getTime();
      text = now.toISOString();
    }
    return text;
  };
}
