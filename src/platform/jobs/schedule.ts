/** When something is due, in UTC: every minute, or at this minute of every hour, or at this time of every day. */
export type Schedule = { hour?: undefined; minute?: number } | { hour: number; minute: number };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The first time after a moment. */
export function findNextTime({ hour, minute }: Schedule, after: Date): Date {
  const periodMs = hour !== undefined ? dayMs : minute !== undefined ? hourMs : minuteMs;
  const offsetMs = (hour ?? 0) * hourMs + (minute ?? 0) * minuteMs;
  // UTC has no days of another length, so that periods can be counted from its beginning.
  const periods = Math.floor((after.getTime() - offsetMs) / periodMs) + 1;
  return new Date(periods * periodMs + offsetMs);
}
