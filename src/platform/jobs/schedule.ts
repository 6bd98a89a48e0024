/** Due times in UTC: every minute, at a minute of every hour, or at a time of every day. */
export type Schedule = { hour?: undefined; minute?: number } | { hour: number; minute: number };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The first due time after `after`. */
export function findNextTime({ hour, minute }: Schedule, after: Date): Date {
  const periodMs = hour !== undefined ? dayMs : minute !== undefined ? hourMs : minuteMs;
  const offsetMs = (hour ?? 0) * hourMs + (minute ?? 0) * minuteMs;
  // Days in Unix time have equal length, so periods count from the epoch.
  const periods = Math.floor((after.getTime() - offsetMs) / periodMs) + 1;
  return new Date(periods * periodMs + offsetMs);
}
