import { expect, test } from "vitest";
import { parseTimestamp } from "./timestamp.ts";

test.each([
  ["2026-11-01T00:00:00Z", "2026-11-01T00:00:00.000Z"],
  ["2026-11-01T00:00Z", "2026-11-01T00:00:00.000Z"],
  ["2026-11-01T01:30:00.5+01:30", "2026-11-01T00:00:00.500Z"],
  ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
])("%s is %s", (text, expected) => {
  expect(parseTimestamp(text)?.toISOString()).toBe(expected);
});

test.each([
  "2026-02-30T00:00:00Z",
  "2027-02-29T00:00:00Z",
  "2026-04-31T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-00-01T00:00:00Z",
  "2026-01-00T00:00:00Z",
  "2026-01-01T25:00:00Z",
  "2026-01-01T00:00:00",
  "2026-01-01",
  "Tue, 5 Jan 2027 00:00:00 Z",
  "",
])("%s is not a timestamp", (text) => {
  expect(parseTimestamp(text)).toBeNull();
});
