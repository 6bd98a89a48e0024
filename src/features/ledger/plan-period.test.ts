import fc from "fast-check";
import { expect, test } from "vitest";
import { planPeriods } from "../../lib/plan-terms.ts";
import { findPeriodAround } from "./plan-period.ts";

function find(length: "day" | "week" | "month", anchoredAt: string, now: string): string[] {
  const { startsAt, endsAt } = findPeriodAround(length, new Date(anchoredAt), new Date(now));
  return [startsAt.toISOString(), endsAt.toISOString()];
}

test("a month ends on the same day of the next month, at the same time", () => {
  const anchor = "2026-11-15T05:00:00.000Z";
  expect(find("month", anchor, anchor)).toEqual([anchor, "2026-12-15T05:00:00.000Z"]);
  expect(find("month", anchor, "2026-12-15T04:59:59.999Z")[0]).toBe(anchor);
  expect(find("month", anchor, "2026-12-15T05:00:00.000Z")[0]).toBe("2026-12-15T05:00:00.000Z");
});

test("a month without the anchor's day ends on its last day, and the next one ends on the anchor's day", () => {
  const anchor = "2026-01-31T12:00:00.000Z";
  expect(find("month", anchor, "2026-02-10T00:00:00.000Z")).toEqual([anchor, "2026-02-28T12:00:00.000Z"]);
  expect(find("month", anchor, "2026-03-01T00:00:00.000Z")).toEqual([
    "2026-02-28T12:00:00.000Z",
    "2026-03-31T12:00:00.000Z",
  ]);
  expect(find("month", anchor, "2028-02-29T12:00:00.000Z")[0]).toBe("2028-02-29T12:00:00.000Z");
});

test("periods have no gaps or overlaps, and contain their moments", () => {
  const anchor = fc.date({ min: new Date("2020-01-01"), max: new Date("2030-01-01"), noInvalidDate: true });
  const later = fc.integer({ min: 0, max: 20 * 365 * 24 * 60 * 60 * 1000 });
  fc.assert(
    fc.property(fc.constantFrom(...planPeriods), anchor, later, (length, anchoredAt, laterMs) => {
      const now = new Date(anchoredAt.getTime() + laterMs);
      const { startsAt, endsAt } = findPeriodAround(length, anchoredAt, now);
      expect(startsAt.getTime()).toBeLessThanOrEqual(now.getTime());
      expect(endsAt.getTime()).toBeGreaterThan(now.getTime());
      expect(findPeriodAround(length, anchoredAt, endsAt).startsAt).toEqual(endsAt);
    }),
  );
});
