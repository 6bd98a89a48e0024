import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createSampler, type SamplerName } from "./create-sampler.ts";

const ids = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const sampled = { ...ids, isSampled: true };
const unsampled = { ...ids, isSampled: false };

function open(name: SamplerName, { ratio = 1, random = 0.5, callersPerSecondMax = 2 } = {}) {
  const clock = createTestClock();
  return { clock, ...createSampler({ name, ratio, callersPerSecondMax, clock, random: () => random }) };
}

test("without a caller's decision, the ratio applies", () => {
  expect(open("always_on").isSampled(null)).toBe(true);
  expect(open("always_off", { random: 0 }).isSampled(null)).toBe(false);
  expect(open("traceidratio", { ratio: 0.1, random: 0.09 }).isSampled(null)).toBe(true);
  expect(open("parentbased_traceidratio", { ratio: 0.1, random: 0.1 }).isSampled(null)).toBe(false);
  expect(open("traceidratio", { ratio: 0, random: 0 }).isSampled(null)).toBe(false);
});

test("trusted callers decide for their requests", () => {
  expect(open("parentbased_always_off").isSampled(sampled)).toBe(true);
  expect(open("parentbased_always_on").isSampled(unsampled)).toBe(false);
});

test("sampling on callers' request is rate limited", () => {
  const { clock, isSampled } = open("parentbased_traceidratio", { ratio: 0.1 });
  expect(Array.from({ length: 5 }, () => isSampled(sampled))).toEqual([true, true, false, false, false]);
  clock.advance(500);
  expect([isSampled(sampled), isSampled(sampled)]).toEqual([true, false]);
  clock.advance(60_000);
  expect(Array.from({ length: 3 }, () => isSampled(sampled))).toEqual([true, true, false]);
});

test("untrusted callers' decisions are ignored", () => {
  expect(open("traceidratio", { ratio: 0.1 }).isSampled(sampled)).toBe(false);
  expect(open("always_on").isSampled(unsampled)).toBe(true);
  expect(open("always_on").trustsCallers).toBe(false);
});
