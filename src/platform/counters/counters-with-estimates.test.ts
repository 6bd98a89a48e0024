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
      /** `true`, or after how many milliseconds to try again. */
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

test("whoever finds no place is told the rest of the usual time of whoever is done first", async () => {
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

test("the newest durations count most", async () => {
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

test("a wait is a second at least and a minute at most, and who is stuck is asked about ever less often", async () => {
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
  // A second before its lease runs out, that is what counts.
  clock.advance(ttlMs - 605_020 - 1500);
  expect(await node.take("c")).toBe(1500);
});

test("where a key has no durations yet, others with the same work tell them, and else it is five seconds", async () => {
  const { clock, node } = createParts(1);
  await node.take("a", "first");
  expect(await node.take("b", "first")).toBe(5000);
  clock.advance(12_000);
  await node.release("a", "first");
  await node.take("c", "second");
  expect(await node.take("d", "second")).toBe(12_000);
});

test("a process that holds no place itself goes by what it has seen, divided among those that others hold", async () => {
  const { clock, node, createNode } = createParts(4);
  const other = createNode();
  await other.take("a");
  clock.advance(20_000);
  await other.release("a");
  for (const leaseId of ["b", "c", "d", "e"]) await node.take(leaseId);
  expect(await other.take("f")).toBe(5000);
});

test("a lease that was never released is not remembered beyond the limit, nor does a second release count", async () => {
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

test("leases without work keep the very time after which they run out", async () => {
  const { clock, node } = createParts();
  const guess = (leaseId: string) => ({ rates: [], leases: [{ key: "guesses", max: 1, leaseId, ttlMs: 900_000 }] });
  await node.counters.take(guess("a"));
  clock.advance(1000);
  expect(await node.counters.take(guess("b"))).toMatchObject({ leases: [{ retryAfterMs: 899_000 }] });
});
