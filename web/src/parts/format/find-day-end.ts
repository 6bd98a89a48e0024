import { getDateFormat } from "./get-format.ts";

const dayMs = 24 * 60 * 60_000;

/** When a day such as 2026-11-15 ends in a time zone. */
export function findDayEnd(date: string, timeZone: string): Date {
  const midnightMs = Date.parse(`${date}T00:00:00Z`) + dayMs;
  const guessMs = midnightMs - readOffsetMs(midnightMs, timeZone);
  // Clocks may change between guess and result, so use the offset at the guess.
  return new Date(midnightMs - readOffsetMs(guessMs, timeZone));
}

/** The zone's offset from UTC at a moment. */
function readOffsetMs(momentMs: number, timeZone: string): number {
  const format = getDateFormat({ timeZone, timeZoneName: "longOffset" });
  const name = format.formatToParts(momentMs).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours = "0", minutes = "0"] = /GMT([+-])(\d+):(\d+)/.exec(name) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
