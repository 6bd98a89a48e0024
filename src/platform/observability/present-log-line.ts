import { styleText } from "node:util";

type Entry = Record<string, unknown> & { level: string; time: string; msg?: string };

const colours = { debug: "gray", info: "cyan", warn: "yellow", error: "red", fatal: "red" } as const;

/** Formats a JSON log line for a terminal. */
export function presentLogLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Entry;
  const clock = styleText("gray", time.slice(11, 23));
  const word = styleText(colours[level as keyof typeof colours] ?? "cyan", level.padEnd(5));
  const text = msg === "request" ? presentRequest(fields) : `${msg ?? ""}${presentFields(fields)}`;
  return `${clock} ${word} ${text}\n`;
}

function presentRequest(fields: Record<string, unknown>): string {
  const { method, route, path, status, duration_ms, request_id, ...rest } = fields;
  const colour = Number(status) >= 500 ? "red" : Number(status) >= 400 ? "yellow" : "green";
  const what = `${String(method)} ${String(route ?? path)}`;
  const outcome = `${styleText(colour, String(status))} ${String(duration_ms)} ms`;
  return `${what} ${outcome} ${styleText("gray", `${String(request_id)}${presentFields(rest)}`)}`;
}

function presentFields(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      if (isLoggedError(value)) return presentStacks(value);
      return ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
    })
    .join("");
}

type LoggedError = { stack: string; detail?: unknown; cause?: unknown };

function isLoggedError(value: unknown): value is LoggedError {
  return typeof value === "object" && value !== null && "stack" in value;
}

/** The stack and detail of an error and its causes. */
function presentStacks({ stack, detail, cause }: LoggedError): string {
  const known = detail === undefined ? "" : `\n  ${JSON.stringify(detail)}`;
  return `\n${stack}${known}${isLoggedError(cause) ? `\ncaused by${presentStacks(cause)}` : ""}`;
}
