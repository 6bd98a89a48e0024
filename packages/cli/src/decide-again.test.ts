import { expect, test } from "vitest";
import { decideAgain } from "./decide-again.ts";

function decide(
  status: number | null,
  {
    headers = {},
    ...more
  }: { headers?: Record<string, string>; isUnsent?: boolean; attempt?: number; isRepeatable?: boolean } = {},
): number | null {
  const { isUnsent = false, attempt = 1, isRepeatable = false } = more;
  return decideAgain({ status, headers: new Headers(headers), isUnsent }, { attempt, isRepeatable, random: 0 });
}

test.for([
  [null, false],
  [500, false],
  [502, false],
  [429, true],
  [503, true],
  [400, false],
  [402, false],
] as const)("a request that is not idempotent is retried after %s: %s", ([status, isAgain]) => {
  expect(decide(status) !== null).toBe(isAgain);
});

test.for([
  [null, true],
  [500, true],
  [504, true],
  [503, true],
  [404, false],
] as const)("an idempotent request is retried after %s: %s", ([status, isAgain]) => {
  expect(decide(status, { isRepeatable: true }) !== null).toBe(isAgain);
});

test("a request that never reached the server is retried", () => {
  expect(decide(null, { isUnsent: true })).not.toBeNull();
});

test("x-should-retry overrides the status", () => {
  expect(decide(503, { headers: { "x-should-retry": "false" }, isRepeatable: true })).toBeNull();
  expect(decide(404, { headers: { "x-should-retry": "true" }, isRepeatable: true })).not.toBeNull();
  expect(decide(404, { headers: { "x-should-retry": "true" } })).toBeNull();
});

test("a 409 is retried only with Retry-After", () => {
  expect(decide(409, { isRepeatable: true })).toBeNull();
  expect(decide(409, { headers: { "retry-after": "1" } })).toBe(1000);
});

test("Retry-After sets the delay, and one over a minute is not waited for", () => {
  expect(decide(429, { headers: { "retry-after": "7" } })).toBe(7000);
  expect(decide(429, { headers: { "retry-after-ms": "20", "retry-after": "1" } })).toBe(20);
  expect(decide(429, { headers: { "retry-after": "61" } })).toBeNull();
});

test("the delay doubles until the last attempt", () => {
  const pauses = [1, 2, 3, 4].map((attempt) => decide(503, { attempt }));
  expect(pauses).toEqual([500, 1000, 2000, null]);
});
