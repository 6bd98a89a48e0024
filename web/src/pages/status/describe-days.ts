import type { UptimeLine } from "../../api/fetch-uptime.ts";

export type StatusDay = UptimeLine["days"][number];

const words = [
  ["down", "down"],
  ["degraded", "degraded"],
  ["ok", "operational"],
  ["few", "with few calls"],
  ["none", "without calls"],
] as const;

/** For those who do not see the bars: how many days of each state there are. */
export function describeDays(days: readonly Pick<StatusDay, "state">[]): string {
  const counts = words.flatMap(([state, word]) => {
    const count = days.filter((day) => day.state === state).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return `${days.length} days: ${counts.join(", ")}`;
}

/** The places of the days of each state. */
export function groupDays(
  days: readonly Pick<StatusDay, "state">[],
): { state: StatusDay["state"]; places: readonly number[] }[] {
  const groups = Map.groupBy(days.keys(), (place) => days[place]?.state ?? "none");
  return [...groups].map(([state, places]) => ({ state, places }));
}
