import fc from "fast-check";
import { expect, test } from "vitest";
import { budgetPeriods, findPeriodStart } from "./budget.ts";

test.each([
  ["total", "2026-11-15T05:00:00.000Z", "1970-01-01T00:00:00.000Z"],
  ["day", "2026-11-15T00:00:00.000Z", "2026-11-15T00:00:00.000Z"],
  ["day", "2026-11-15T23:59:59.999Z", "2026-11-15T00:00:00.000Z"],
  // 2026-11-15 is a Sunday: the last day of the week that began on Monday the 9th.
  ["week", "2026-11-15T23:59:59.999Z", "2026-11-09T00:00:00.000Z"],
  ["week", "2026-11-16T00:00:00.000Z", "2026-11-16T00:00:00.000Z"],
  ["week", "2027-01-01T12:00:00.000Z", "2026-12-28T00:00:00.000Z"],
  ["month", "2026-11-30T23:59:59.999Z", "2026-11-01T00:00:00.000Z"],
  ["month", "2028-02-29T12:00:00.000Z", "2028-02-01T00:00:00.000Z"],
] as const)("the %s of %s began at %s", (period, now, start) => {
  expect(findPeriodStart(period, new Date(now)).toISOString()).toBe(start);
});

test("a period never begins after the moment in it, and its start is in the same period", () => {
  const moment = fc.date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(fc.constantFrom(...budgetPeriods), moment, (period, now) => {
      const start = findPeriodStart(period, now);
      expect(start.getTime()).toBeLessThanOrEqual(now.getTime());
      expect(findPeriodStart(period, start)).toEqual(start);
    }),
  );
});
