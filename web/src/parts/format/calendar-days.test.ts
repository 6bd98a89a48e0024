import { expect, test } from "vitest";
import { addDays, countDays, findDay, formatDay, isDay, listDays } from "./calendar-days.ts";

test("a day follows the given time zone, not the browser's", () => {
  const moment = new Date("2026-11-15T23:30:00Z");
  expect(findDay(moment, "UTC")).toBe("2026-11-15");
  expect(findDay(moment, "Asia/Tokyo")).toBe("2026-11-16");
  expect(findDay(moment, "America/Los_Angeles")).toBe("2026-11-15");
});

test("days are consecutive across months, years and daylight saving time", () => {
  expect(listDays("2026-10-24", "2026-10-27")).toEqual(["2026-10-24", "2026-10-25", "2026-10-26", "2026-10-27"]);
  expect(addDays("2026-12-31", 1)).toBe("2027-01-01");
  expect(addDays("2028-03-01", -1)).toBe("2028-02-29");
  expect(countDays("2026-11-01", "2026-11-30")).toBe(30);
  expect(listDays("2026-11-02", "2026-11-01")).toEqual([]);
});

test.for(["2026-02-30", "2026-13-01", "yesterday", "", "2026-1-1", "2026-11-15T00:00:00Z"])(
  "%s is not a day",
  (text) => {
    expect(isDay(text)).toBe(false);
  },
);

test("a day is formatted independently of the browser's time zone", () => {
  expect(isDay("2026-02-28")).toBe(true);
  expect(formatDay("2026-02-28")).toBe("Feb 28, 2026");
  expect(formatDay("2026-02-28", "short")).toBe("Feb 28");
});
