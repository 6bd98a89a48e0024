import { expect, test } from "vitest";
import { decideRetry, parseRetryAfter, retryDelaysMs } from "./decide-retry.ts";

const now = new Date("2026-01-01T00:00:00Z");

function waitMs(attemptCount: number, random: number, retryAfterMs: number | null = null): number | null {
  const dueAt = decideRetry(attemptCount, { now, random, retryAfterMs });
  return dueAt === null ? null : dueAt.getTime() - now.getTime();
}

test("retries follow after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, then stop", () => {
  const seconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  expect(seconds.map((_, index) => waitMs(index + 1, 0.5))).toEqual(seconds.map((second) => second * 1000));
  expect(waitMs(10, 0.5)).toBeNull();
});

test("each delay has a jitter of 10 %", () => {
  for (const [index, delayMs] of retryDelaysMs.entries()) {
    expect(waitMs(index + 1, 0)).toBe(delayMs * 0.9);
    expect(waitMs(index + 1, 0.999_999)).toBeCloseTo(delayMs * 1.1, -3);
  }
});

test("a receiver's Retry-After can lengthen a delay, up to twice the scheduled one, but not shorten it", () => {
  expect(waitMs(2, 0.5, 400_000)).toBe(400_000);
  expect(waitMs(2, 0.5, 10_000_000)).toBe(600_000);
  expect(waitMs(2, 0.5, 1000)).toBe(300_000);
});

test.each([
  [null, null],
  ["0", 0],
  ["120", 120_000],
  ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
  ["-5", null],
  ["soon", null],
  ["1e9", null],
  ["99999999999999999999", null],
])("Retry-After: %j is parsed as %j", (header, expected) => {
  expect(parseRetryAfter(header, now)).toBe(expected);
});
