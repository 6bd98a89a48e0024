import { expect, test } from "vitest";
import { readVendorLimits } from "./vendor-limits.ts";

const now = new Date("2026-05-01T10:00:00Z");
const after = (ms: number): Date => new Date(now.getTime() + ms);

test("OpenAI's headers: durations of several units", () => {
  const headers = {
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-reset-requests": "6ms",
    "x-ratelimit-limit-tokens": "30000000",
    "x-ratelimit-remaining-tokens": "29999977",
    "x-ratelimit-reset-tokens": "1m2.5s",
  };
  expect(readVendorLimits(headers, now)).toEqual([
    { name: "requests", most: 10_000, remaining: 9999, resetsAt: after(6) },
    { name: "tokens", most: 30_000_000, remaining: 29_999_977, resetsAt: after(62_500) },
  ]);
});

test("Anthropic's headers: a name for each kind of token, and times", () => {
  const headers = {
    "anthropic-ratelimit-input-tokens-limit": "400000",
    "anthropic-ratelimit-input-tokens-remaining": "399000",
    "anthropic-ratelimit-input-tokens-reset": "2026-05-01T10:00:30Z",
  };
  expect(readVendorLimits(headers, now)).toEqual([
    { name: "input-tokens", most: 400_000, remaining: 399_000, resetsAt: after(30_000) },
  ]);
});

test("headers without a name are requests; resets are seconds or Unix times", () => {
  const limits = (reset: string) =>
    readVendorLimits({ "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset }, now);
  const unix = now.getTime() / 1000 + 5;
  for (const reset of ["5", String(unix), String(unix * 1000)]) {
    expect(limits(reset)).toEqual([{ name: "requests", most: 60, remaining: 0, resetsAt: after(5000) }]);
  }
  for (const reset of ["soon", "-1", "", "99999999999999"]) expect(limits(reset)[0]?.resetsAt).toBeNull();
  expect(readVendorLimits({ "x-tokenlimit-remaining": "7" }, now)).toEqual([
    { name: "tokens", most: null, remaining: 7, resetsAt: null },
  ]);
});

test("other headers are ignored, and eight limits are read at most", () => {
  expect(readVendorLimits({ "x-ratelimit-limit-requests": "many", "retry-after": "3", server: "x" }, now)).toEqual([]);
  expect(readVendorLimits({ "x-ratelimit-limit-requests": ["1", "2"] }, now)).toEqual([]);
  const many = Array.from({ length: 20 }, (_, index) => [`x-ratelimit-limit-kind${index}`, "5"]);
  expect(readVendorLimits(Object.fromEntries(many), now)).toHaveLength(8);
});
