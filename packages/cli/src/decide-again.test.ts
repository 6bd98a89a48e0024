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
] as const)("what could be done twice is sent again after %s only where nothing was done: %s", ([status, isAgain]) => {
  expect(decide(status) !== null).toBe(isAgain);
});

test.for([
  [null, true],
  [500, true],
  [504, true],
  [503, true],
  [404, false],
] as const)("what is done once however often it is sent is sent again after %s: %s", ([status, isAgain]) => {
  expect(decide(status, { isRepeatable: true }) !== null).toBe(isAgain);
});

test("what was never sent is sent again", () => {
  expect(decide(null, { isUnsent: true })).not.toBeNull();
});

test("the server's own word counts more", () => {
  expect(decide(503, { headers: { "x-should-retry": "false" }, isRepeatable: true })).toBeNull();
  expect(decide(404, { headers: { "x-should-retry": "true" }, isRepeatable: true })).not.toBeNull();
  expect(decide(404, { headers: { "x-should-retry": "true" } })).toBeNull();
});

test("a conflict passes only if it says when", () => {
  expect(decide(409, { isRepeatable: true })).toBeNull();
  expect(decide(409, { headers: { "retry-after": "1" } })).toBe(1000);
});

test("the pause is the one that was asked for, and too long a one is the person's to wait", () => {
  expect(decide(429, { headers: { "retry-after": "7" } })).toBe(7000);
  expect(decide(429, { headers: { "retry-after-ms": "20", "retry-after": "1" } })).toBe(20);
  expect(decide(429, { headers: { "retry-after": "61" } })).toBeNull();
});

test("pauses grow, and there is an end", () => {
  const pauses = [1, 2, 3, 4].map((attempt) => decide(503, { attempt }));
  expect(pauses).toEqual([500, 1000, 2000, null]);
});
