import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutTime } from "./time-buckets.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function cutDays(from: string, to: string, timeZone: string): string[] {
  return cutTime("day", { from: new Date(from), to: new Date(to), timeZone }).map((moment) => moment.toISOString());
}

function listHours(unit: "day" | "hour", from: string, to: string, timeZone: string): number[] {
  const moments = cutTime(unit, { from: new Date(from), to: new Date(to), timeZone });
  return moments.slice(1).map((moment, index) => (moment.getTime() - (moments[index]?.getTime() ?? 0)) / hourMs);
}

describe("days", () => {
  test("begin at local midnight; the first and last may be partial", () => {
    expect(cutDays("2026-11-01T12:00:00Z", "2026-11-03T12:00:00Z", "Asia/Kathmandu")).toEqual([
      "2026-11-01T12:00:00.000Z",
      "2026-11-01T18:15:00.000Z",
      "2026-11-02T18:15:00.000Z",
      "2026-11-03T12:00:00.000Z",
    ]);
  });

  test("have 23 or 25 hours when the clocks change", () => {
    expect(listHours("day", "2026-03-28T23:00:00Z", "2026-03-30T22:00:00Z", "Europe/Berlin")).toEqual([23, 24]);
    expect(listHours("day", "2026-10-24T22:00:00Z", "2026-10-26T23:00:00Z", "Europe/Berlin")).toEqual([25, 24]);
  });

  test("begin at one o'clock if midnight was skipped", () => {
    expect(cutDays("2018-11-03T12:00:00Z", "2018-11-05T12:00:00Z", "America/Sao_Paulo")).toEqual([
      "2018-11-03T12:00:00.000Z",
      "2018-11-04T03:00:00.000Z",
      "2018-11-05T02:00:00.000Z",
      "2018-11-05T12:00:00.000Z",
    ]);
  });

  test("that a country skipped have no bucket", () => {
    expect(cutDays("2011-12-29T10:00:00Z", "2011-12-31T10:00:00Z", "Pacific/Apia")).toEqual([
      "2011-12-29T10:00:00.000Z",
      "2011-12-30T10:00:00.000Z",
      "2011-12-31T10:00:00.000Z",
    ]);
  });

  test("that began twice begin once", () => {
    // At 00:01 the clocks went back to 23:01 of the day before.
    expect(cutDays("2010-11-06T12:00:00Z", "2010-11-08T12:00:00Z", "America/St_Johns")).toEqual([
      "2010-11-06T12:00:00.000Z",
      "2010-11-07T02:30:00.000Z",
      "2010-11-08T03:30:00.000Z",
      "2010-11-08T12:00:00.000Z",
    ]);
    // Within the repeated hour the day has already begun.
    expect(cutDays("2010-11-07T03:00:00Z", "2010-11-08T12:00:00Z", "America/St_Johns")).toEqual([
      "2010-11-07T03:00:00.000Z",
      "2010-11-08T03:30:00.000Z",
      "2010-11-08T12:00:00.000Z",
    ]);
  });
});

describe("hours", () => {
  test("follow the local clock", () => {
    expect(listHours("hour", "2026-11-01T00:00:00Z", "2026-11-01T02:30:00Z", "Asia/Kathmandu")).toEqual([
      0.25, 1, 1, 0.25,
    ]);
  });

  test("that a clock repeats are two buckets, and a skipped one is none", () => {
    const all = Array.from({ length: 25 }, () => 1);
    expect(listHours("hour", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "Europe/Berlin")).toEqual(all);
    expect(listHours("hour", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "Europe/Berlin")).toEqual(all.slice(2));
  });

  test("are split by a clock change within the hour", () => {
    const minutes = listHours("hour", "2010-11-07T02:30:00Z", "2010-11-07T04:30:00Z", "America/St_Johns").map(
      (hours) => hours * 60,
    );
    expect(minutes).toEqual([1, 59, 60]);
  });

  test("are split by a half-hour clock change", () => {
    expect(listHours("hour", "2026-10-03T14:00:00Z", "2026-10-03T17:00:00Z", "Australia/Lord_Howe")).toEqual([
      0.5, 1, 0.5, 1,
    ]);
  });
});

const anyZone = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
// Since 2012 no clock went back over a midnight, so the local date identifies the day.
const anyMoment = fc.date({ min: new Date("2012-01-01"), max: new Date("2037-01-01"), noInvalidDate: true });

/** An independent implementation: `Intl`'s calendar. */
function createCalendar(timeZone: string, fields: Intl.DateTimeFormatOptions) {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle: "h23", ...fields });
  return (moment: Date | number) => format.format(moment);
}

describe("at any time in any zone", () => {
  test("buckets have no gaps, and a moment is in the bucket of its local day", () => {
    fc.assert(
      fc.property(anyZone, anyMoment, fc.integer({ min: 1, max: 20 * dayMs }), (timeZone, from, lengthMs) => {
        const to = new Date(from.getTime() + lengthMs);
        const moments = cutTime("day", { from, to, timeZone });
        expect([moments[0], moments.at(-1)]).toEqual([from, to]);
        const nameDay = createCalendar(timeZone, { dateStyle: "short" });
        const days = moments.slice(0, -1).map((start, index) => {
          const end = moments[index + 1] ?? to;
          expect(end.getTime()).toBeGreaterThan(start.getTime());
          const middle = (start.getTime() + end.getTime()) / 2;
          expect([nameDay(middle), nameDay(end.getTime() - 1)]).toEqual([nameDay(start), nameDay(start)]);
          return nameDay(start);
        });
        expect(new Set(days).size).toBe(days.length);
      }),
      { numRuns: 300 },
    );
  });

  test("an hour's bucket is within one local hour, and at most an hour long", () => {
    const sometime = fc.integer({ min: 1, max: 3 * dayMs });
    fc.assert(
      fc.property(anyZone, anyMoment, sometime, (timeZone, from, lengthMs) => {
        const to = new Date(from.getTime() + lengthMs);
        const moments = cutTime("hour", { from, to, timeZone });
        expect([moments[0], moments.at(-1)]).toEqual([from, to]);
        const nameHour = createCalendar(timeZone, { day: "numeric", hour: "numeric" });
        for (const [index, start] of moments.slice(0, -1).entries()) {
          const end = moments[index + 1] ?? to;
          expect(end.getTime()).toBeGreaterThan(start.getTime());
          expect(end.getTime() - start.getTime()).toBeLessThanOrEqual(hourMs);
          expect(nameHour(end.getTime() - 1)).toBe(nameHour(start));
        }
      }),
      { numRuns: 200 },
    );
  });
});
