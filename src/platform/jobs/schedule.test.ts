import { expect, test } from "vitest";
import { findNextTime, type Schedule } from "./schedule.ts";

test.for<[Schedule, string, string]>([
  [{}, "2026-03-01T10:20:00.000Z", "2026-03-01T10:21:00.000Z"],
  [{}, "2026-03-01T23:59:59.999Z", "2026-03-02T00:00:00.000Z"],
  [{ minute: 23 }, "2026-03-01T10:22:59.999Z", "2026-03-01T10:23:00.000Z"],
  [{ minute: 23 }, "2026-03-01T10:23:00.000Z", "2026-03-01T11:23:00.000Z"],
  [{ minute: 23 }, "2026-12-31T23:40:00.000Z", "2027-01-01T00:23:00.000Z"],
  [{ hour: 3, minute: 17 }, "2026-02-28T03:17:00.000Z", "2026-03-01T03:17:00.000Z"],
  [{ hour: 3, minute: 17 }, "2026-02-28T01:00:00.000Z", "2026-02-28T03:17:00.000Z"],
])("%j after %s is %s", ([schedule, after, next]) => {
  expect(findNextTime(schedule, new Date(after)).toISOString()).toBe(next);
});
