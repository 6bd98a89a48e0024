import type { LoggedRequest } from "../../api/ask-requests.ts";
import type { BadgeKind } from "../../design/badge.tsx";
import { formatDuration } from "../../parts/format/format-duration.ts";

type Ended = Pick<LoggedRequest, "status" | "ending">;

/** Where the number alone does not say how it ended. */
const endingWords: Partial<Record<LoggedRequest["ending"], string>> = { hung_up: "Hung up", broken_off: "Broken off" };

/** How a call ended, as one word beside its status. */
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

/** In which form a call came, as the reference calls it. */
export function nameWire(wire: string): string {
  return wireNames[wire] ?? `${wire.charAt(0).toUpperCase()}${wire.slice(1)}`;
}

/** Calls take milliseconds, streams seconds. */
export function formatLatency(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : formatDuration(milliseconds);
}

/** To the second: of one minute there may be many. */
export function formatInstant(time: string, timeZone: string): string {
  const style = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  return new Intl.DateTimeFormat("en", { ...style, hourCycle: "h23", timeZone }).format(new Date(time));
}
