import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presentDuration, presentLimitHeaders, presentRetryHeaders } from "./limit-headers.ts";

function state(limit: number, remaining: number, resetMs: number) {
  return { limit, remaining, resetMs, retryAfterMs: 0 };
}

describe("the headers of every answer", () => {
  test("tell of each kind, and of all kinds the one with the least left", () => {
    const states = { requests: state(10, 3, 42_000), tokens: state(1_000_000, 2, 60_000) };
    expect(presentLimitHeaders({ ...states, isDegraded: false })).toEqual({
      "x-ratelimit-limit": "1000000",
      "x-ratelimit-remaining": "2",
      "x-ratelimit-reset": "60",
      "x-ratelimit-limit-requests": "10",
      "x-ratelimit-remaining-requests": "3",
      "x-ratelimit-reset-requests": "42s",
      "x-ratelimit-limit-tokens": "1000000",
      "x-ratelimit-remaining-tokens": "2",
      "x-ratelimit-reset-tokens": "1m0s",
    });
  });

  test("count the seconds until the reset up, never down", () => {
    const reset = (resetMs: number) =>
      presentLimitHeaders({ requests: state(600, 0, resetMs), tokens: null, isDegraded: false })["x-ratelimit-reset"];
    expect([0, 1, 1000, 1001].map(reset)).toEqual(["0", "1", "1", "2"]);
  });

  test("say when this gateway decided alone", () => {
    const states = { requests: state(600, 1, 0), tokens: null };
    expect(presentLimitHeaders({ ...states, isDegraded: true })).toMatchObject({ "x-ratelimit-degraded": "1" });
    expect(presentLimitHeaders({ ...states, isDegraded: false })).not.toHaveProperty("x-ratelimit-degraded");
  });
});

test("a wait is told in whole seconds, at least one and never too few, and in milliseconds", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), (retryAfterMs) => {
      const headers = presentRetryHeaders(retryAfterMs);
      expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      expect(Number(headers["retry-after"]) * 1000).toBeGreaterThanOrEqual(retryAfterMs);
      expect(Number(headers["retry-after"]) * 1000).toBeLessThan(retryAfterMs + 1000);
      expect(headers["retry-after-ms"]).toBe(String(retryAfterMs));
    }),
  );
});

test.each([
  [0, "0s"],
  [1, "1ms"],
  [12, "12ms"],
  [999, "999ms"],
  [1000, "1s"],
  [1500, "1.5s"],
  [59_999, "59.999s"],
  [60_000, "1m0s"],
  [90_500, "1m30.5s"],
  [360_000, "6m0s"],
  [3_600_000, "1h0m0s"],
  [90_061_001, "25h1m1.001s"],
])("%i ms are written as %s", (milliseconds, text) => {
  expect(presentDuration(milliseconds)).toBe(text);
});
