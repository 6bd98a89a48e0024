import { expect, test } from "vitest";
import { formatMoment, formatSince } from "./format-time.ts";

const now = new Date("2026-11-15T12:00:00Z");

test.for([
  ["2026-11-15T12:00:30Z", "just now"],
  ["2026-11-15T11:59:01Z", "just now"],
  ["2026-11-15T11:59:00Z", "1 minute ago"],
  ["2026-11-15T10:00:00Z", "2 hours ago"],
  ["2026-11-14T11:00:00Z", "yesterday"],
  ["2026-11-09T12:00:00Z", "6 days ago"],
] as const)("%s was %s", ([time, words]) => {
  expect(formatSince(time, now)).toBe(words);
});

test("moments a week old or more are dates", () => {
  expect(formatSince("2026-11-08T12:00:00Z", now)).toBe(formatMoment("2026-11-08T12:00:00Z"));
});

test("a moment is formatted in the given time zone", () => {
  expect(formatMoment("2026-11-15T23:30:00Z", "Asia/Tokyo")).toMatch(/^Nov 16, 2026, 8:30\sAM$/);
  expect(formatMoment("2026-11-15T23:30:00Z", "UTC")).toMatch(/^Nov 15, 2026, 11:30\sPM$/);
});
