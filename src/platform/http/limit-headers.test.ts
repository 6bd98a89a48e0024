import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nothingSeen, presentDuration, presentLimitHeaders, presentRetryHeaders } from "./limit-headers.ts";

function state(limit: number, remaining: number, resetMs: number) {
  return { limit, remaining, resetMs, retryAfterMs: 0 };
}

type Rate = ReturnType<typeof state> | null;

function seen({ requests, tokens = null }: { requests: Rate; tokens?: Rate }) {
  return { ...nothingSeen, requests, tokens, tightestRequests: requests, tightestTokens: tokens };
}

describe("rate limit headers", () => {
  test("contain each kind, and overall the limit with the smallest share left", () => {
    const states = seen({ requests: state(10, 3, 42_000), tokens: state(1_000_000, 299_999, 60_000) });
    expect(presentLimitHeaders(states)).toEqual({
      "x-ratelimit-limit": "1000000",
      "x-ratelimit-remaining": "299999",
      "x-ratelimit-reset": "60",
      "x-ratelimit-limit-requests": "10",
      "x-ratelimit-remaining-requests": "3",
      "x-ratelimit-reset-requests": "42s",
      "x-ratelimit-limit-tokens": "1000000",
      "x-ratelimit-remaining-tokens": "299999",
      "x-ratelimit-reset-tokens": "1m0s",
    });
    expect(presentLimitHeaders({ ...states, tightestTokens: state(1_000_000, 300_000, 60_000) })).toMatchObject({
      "x-ratelimit-limit": "10",
    });
  });

  test("count a stream's own lease, but not a whole response's", () => {
    const states = { ...seen({ requests: state(10, 9, 6000) }), places: state(4, 2, 3000) };
    const readFirst = (headers: Record<string, string>) => Object.values(headers).slice(0, 3);
    expect(readFirst(presentLimitHeaders(states, "going-on"))).toEqual(["4", "2", "3"]);
    expect(readFirst(presentLimitHeaders(states))).toEqual(["4", "3", "3"]);
    expect(readFirst(presentLimitHeaders({ ...states, places: state(4, 3, 3000) }))).toEqual(["10", "9", "6"]);
  });

  test("round the seconds until the reset up", () => {
    const reset = (resetMs: number) =>
      presentLimitHeaders(seen({ requests: state(600, 0, resetMs) }))["x-ratelimit-reset"];
    expect([0, 1, 1000, 1001].map(reset)).toEqual(["0", "1", "1", "2"]);
  });

  test("mark degraded mode", () => {
    const states = seen({ requests: state(600, 1, 0) });
    expect(presentLimitHeaders({ ...states, isDegraded: true })).toMatchObject({ "x-ratelimit-degraded": "1" });
    expect(presentLimitHeaders({ ...states, isDegraded: false })).not.toHaveProperty("x-ratelimit-degraded");
  });
});

test("Retry-After is rounded up to at least one second, and also sent in milliseconds", () => {
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
