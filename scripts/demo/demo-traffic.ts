import type { Chance } from "./seeded-chance.ts";

const dayMs = 24 * 60 * 60_000;

/** The hours of a day's calls: three bursts on workdays, one at weekends. */
const workdayHours = [9.2, 13.6, 17.4] as const;
const weekendHours = [11.5] as const;
const emptyDayChance = 0.06;

export type Burst = { at: Date; calls: number };

/** Plans a day's calls: more on workdays, growing every week, and none on some days. */
export function planDay(chance: Chance, { start, index, days, callsPerDay }: DayPlan): Burst[] {
  const midnight = new Date(start.getTime() + index * dayMs);
  midnight.setUTCHours(0, 0, 0, 0);
  const isWeekend = [0, 6].includes(midnight.getUTCDay());
  const isEmpty = chance.next() < emptyDayChance;
  const share = (0.5 + index / days) * (isWeekend ? 0.3 : 1) * (0.7 + 0.6 * chance.next());
  const total = isEmpty ? 0 : Math.round(callsPerDay * share);
  const hours = isWeekend ? weekendHours : workdayHours;
  return hours.flatMap((hour, slot) => {
    const calls = Math.floor((total + slot) / hours.length);
    const at = new Date(midnight.getTime() + (hour + chance.next()) * 60 * 60_000);
    return calls === 0 ? [] : [{ at, calls }];
  });
}

/** The last day has this many times the calls of others, and they are spread over quarters of an hour. */
const lastDayFactor = 3;
const quarters = 96;
const quarterMs = dayMs / quarters;

/** Plans the 24 hours before `until` around the clock, so that the console's default period has no empty hours. */
export function planLastDay(chance: Chance, { until, callsPerDay }: { until: Date; callsPerDay: number }): Burst[] {
  return Array.from({ length: quarters }, (_, index): Burst => {
    const at = new Date(until.getTime() - dayMs + (index + chance.next()) * quarterMs);
    // Least at 2:00, most at 14:00.
    const share = 1 - 0.5 * Math.cos(((at.getUTCHours() - 2) / 24) * 2 * Math.PI);
    return { at, calls: Math.floor(((callsPerDay * lastDayFactor) / quarters) * share + chance.next()) };
  }).filter(({ calls }) => calls > 0);
}

type DayPlan = { start: Date; index: number; days: number; callsPerDay: number };
