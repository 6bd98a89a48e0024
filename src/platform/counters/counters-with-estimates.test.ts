import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createCountersWithEstimates } from "./counters-with-estimates.ts";
import { createMemoryCounters } from "./memory-counters.ts";

const ttlMs = 2_100_000;

function createParts(max = 2) {
  const clock = createTestClock();
  const shared = createMemoryCounters({ clock });
  const createNode = () => {
    const counters = createCountersWithEstimates({ counters: shared, clock });
    const check = (leaseId: string, key: string) => ({ key, max, leaseId, ttlMs, work: "requests" });
    return {
      counters,
      /** `true`, or the retry delay in milliseconds. */
      async take(leaseId: string, key = "one") {
        const { isAllowed, leases } = await counters.take({ rates: [], leases: [check(leaseId, key)] });
        return isAllowed ? true : leases[0]?.retryAfterMs;
      },
      async release(leaseId: string, key = "one") {
        await counters.release([{ key, leaseId }]);
      },
    };
  };
  return { clock, createNode, node: createNode() };
}

test("the retry delay is the estimated time until the first lease is released", async () => {
  const { clock, node } = createParts();
  await node.take("a");
  clock.advance(10_000);
  await node.release("a");
  await node.take("b");
  clock.advance(3000);
  await node.take("c");
  expect(await node.take("d")).toBe(7000);
  clock.advance(2000);
  expect(await node.take("d")).toBe(5000);
  await node.release("b");
  expect(await node.take("d")).toBe(true);
});

test("recent durations weigh most", async () => {
  const { clock, node } = createParts(1);
  for (const seconds of [40, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]) {
    expect(await node.take("a")).toBe(true);
    clock.advance(seconds * 1000);
    await node.release("a");
  }
  await node.take("a");
  expect(await node.take("b")).toBeGreaterThan(2000);
  expect(await node.take("b")).toBeLessThan(4000);
});

test("the delay is between one second and one minute, and grows while a lease is stuck", async () => {
  const { clock, node } = createParts(1);
  await node.take("a");
  clock.advance(20);
  await node.release("a");
  await node.take("b");
  expect(await node.take("c")).toBe(1000);
  clock.advance(5020);
  expect(await node.take("c")).toBe(5000);
  clock.advance(600_000);
  expect(await node.take("c")).toBe(60_000);
  // Near the lease's expiry, the remaining TTL is the delay.
  clock.advance(ttlMs - 605_020 - 1500);
  expect(await node.take("c")).toBe(1500);
});

test("a key without durations uses those of the same work, or five seconds", async () => {
  const { clock, node } = createParts(1);
  await node.take("a", "first");
  expect(await node.take("b", "first")).toBe(5000);
  clock.advance(12_000);
  await node.release("a", "first");
  await node.take("c", "second");
  expect(await node.take("d", "second")).toBe(12_000);
});

test("a process without leases divides its known duration by the number of others' leases", async () => {
  const { clock, node, createNode } = createParts(4);
  const other = createNode();
  await other.take("a");
  clock.advance(20_000);
  await other.release("a");
  for (const leaseId of ["b", "c", "d", "e"]) await node.take(leaseId);
  expect(await other.take("f")).toBe(5000);
});

test("expired leases and repeated releases do not count as durations", async () => {
  const { clock, node } = createParts(1);
  await node.take("lost");
  clock.advance(ttlMs);
  expect(await node.take("a")).toBe(true);
  clock.advance(4000);
  await node.release("a");
  await node.release("a");
  await node.take("b");
  expect(await node.take("c")).toBe(4000);
});

test("leases without work return their exact remaining TTL", async () => {
  const { clock, node } = createParts();
  const guess = (leaseId: string) => ({ rates: [], leases: [{ key: "guesses", max: 1, leaseId, ttlMs: 900_000 }] });
  await node.counters.take(guess("a"));
  clock.advance(1000);
  expect(await node.counters.take(guess("b"))).toMatchObject({ leases: [{ retryAfterMs: 899_000 }] });
});
