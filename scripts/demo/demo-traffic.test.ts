import { expect, test } from "vitest";
import { planLastDay } from "./demo-traffic.ts";
import { createChance } from "./seeded-chance.ts";

test("the last day has calls around the clock, in order, and none after its end", () => {
  const until = new Date("2026-11-15T10:00:00Z");
  const bursts = planLastDay(createChance(1), { until, callsPerDay: 32 });
  expect(new Set(bursts.map(({ at }) => at.getUTCHours())).size).toBe(24);
  const times = bursts.map(({ at }) => at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(until.getTime() - 24 * 60 * 60_000);
  expect(times.at(-1)).toBeLessThan(until.getTime());
});
