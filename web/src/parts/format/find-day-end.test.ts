import { expect, test } from "vitest";
import { findDayEnd } from "./find-day-end.ts";

test.each([
  ["2026-11-15", "UTC", "2026-11-16T00:00:00.000Z"],
  ["2026-11-15", "Asia/Kolkata", "2026-11-15T18:30:00.000Z"],
  ["2026-11-15", "America/New_York", "2026-11-16T05:00:00.000Z"],
  ["2026-10-31", "America/New_York", "2026-11-01T04:00:00.000Z"],
  ["2026-11-01", "America/New_York", "2026-11-02T05:00:00.000Z"],
  ["2026-10-24", "Europe/Berlin", "2026-10-24T22:00:00.000Z"],
  ["2026-10-25", "Europe/Berlin", "2026-10-25T23:00:00.000Z"],
  ["2026-09-26", "Pacific/Auckland", "2026-09-26T12:00:00.000Z"],
  ["2026-12-31", "Pacific/Kiritimati", "2026-12-31T10:00:00.000Z"],
])("%s in %s ends at %s", (date, timeZone, end) => {
  expect(findDayEnd(date, timeZone).toISOString()).toBe(end);
});
