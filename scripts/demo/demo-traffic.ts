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

type DayPlan = { start: Date; index: number; days: number; callsPerDay: number };
