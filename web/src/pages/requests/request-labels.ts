import type { LoggedRequest } from "../../api/fetch-requests.ts";
import type { BadgeKind } from "../../design/badge.tsx";
import { formatDuration } from "../../parts/format/format-duration.ts";
import { getDateFormat } from "../../parts/format/get-format.ts";

type Ended = Pick<LoggedRequest, "status" | "ending">;

/** Where the status alone does not say how it ended. */
const endingWords: Partial<Record<LoggedRequest["ending"], string>> = {
  hung_up: "Client closed request",
  broken_off: "Interrupted",
};

export function describeEnding({ status, ending }: Ended): { kind: BadgeKind; name: string } {
  const words = endingWords[ending];
  return { kind: judgeEnding({ status, ending }), name: words === undefined ? String(status) : `${status} ${words}` };
}

function judgeEnding({ status, ending }: Ended): BadgeKind {
  if (ending === "hung_up") return "neutral";
  if (ending === "failed" || ending === "broken_off") return "bad";
  return status < 400 ? "good" : "warning";
}

const wireNames: Readonly<Record<string, string>> = {
  chat: "Chat completions",
  videos: "Video",
  avatars: "Avatars",
  requests: "Request log",
};

/** The API's name as in the reference. */
export function nameWire(wire: string): string {
  return wireNames[wire] ?? `${wire.charAt(0).toUpperCase()}${wire.slice(1)}`;
}

/** A short title: what was asked of which model, or the path. */
export function nameRequest({ model, wire, method, route }: LoggedRequest): string {
  if (model === null) return `${method} ${route ?? "unknown path"}`;
  return wire === null ? model : `${nameWire(wire)} with ${model}`;
}

export function formatLatency(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : formatDuration(milliseconds);
}

/** With seconds: a minute can have many requests. */
export function formatInstant(time: string, timeZone: string): string {
  const style = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  return getDateFormat({ ...style, hourCycle: "h23", timeZone }).format(new Date(time));
}
