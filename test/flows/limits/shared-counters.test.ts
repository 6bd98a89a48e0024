import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import type { CounterDecision, Counters } from "../../../src/platform/counters/counters.ts";
import { createCountersWithFallback } from "../../../src/platform/counters/counters-with-fallback.ts";
import { createMemoryCounters } from "../../../src/platform/counters/memory-counters.ts";
import { createRedisCounters } from "../../../src/platform/counters/redis-counters.ts";
import { startHammer } from "../../harness/hammer-counters.ts";
import { hasRedis, type RedisServer, startRedisServer } from "../../harness/servers/redis-server.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const limit = 20;

/** One gateway's counters as in production, but with a frozen clock, so that nothing refills. */
function openNode(server: RedisServer) {
  const clock = createTestClock();
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown): void => void troubles.push(error);
  const counters = createCountersWithFallback({
    shared: createRedisCounters({ url: server.url, clock, onTrouble: () => {} }),
    local: createMemoryCounters({ clock }),
    clock: systemClock,
    onTrouble,
  });
  return { counters, troubles, [Symbol.asyncDispose]: () => counters.close() };
}

async function take(counters: Counters, cost = 1): Promise<CounterDecision> {
  return await counters.take({ rates: [{ key: "{acct_1}:requests", perMinute: limit, cost }], leases: [] });
}

async function waitForShared(counters: Counters): Promise<CounterDecision> {
  return await waitUntil("a shared decision", async () => {
    const decision = await take(counters, 0);
    return decision.isDegraded ? null : decision;
  });
}

async function waitForLocal(counters: Counters): Promise<void> {
  await waitUntil("a local decision", async () => (await take(counters, 0)).isDegraded);
}

/** Takes units until the shared counters refuse one. Unanswered ones may have been counted, or not. */
async function takeAll(counters: Counters): Promise<{ passed: number; passedAtMost: number }> {
  let passed = 0;
  let unanswered = 0;
  await waitUntil("a shared refusal", async () => {
    const { isAllowed, isDegraded } = await take(counters);
    if (isDegraded) unanswered += 1;
    else if (isAllowed) passed += 1;
    return !isAllowed && !isDegraded;
  });
  return { passed, passedAtMost: passed + unanswered };
}

describe.skipIf(!hasRedis)("several gateways on one Redis", () => {
  test("three processes that hammer one limit get exactly the limit in total", async () => {
    await using server = await startRedisServer();
    const task = { url: server.url, key: "{acct_1}:requests", perMinute: 500, attempts: 400 };
    const hammers = [startHammer(task), startHammer(task), startHammer(task)];
    await Promise.all(hammers.map(({ ready }) => ready));
    for (const hammer of hammers) hammer.begin();
    const passed = await Promise.all(hammers.map((hammer) => hammer.passed));
    expect(passed.reduce((sum, count) => sum + count)).toBe(500);
  });

  test("units used by one are used up for the other", async () => {
    await using server = await startRedisServer();
    await using one = openNode(server);
    await using other = openNode(server);
    await waitForShared(one.counters);
    await waitForShared(other.counters);
    await waitUntil("a shared take", async () => !(await take(one.counters, 15)).isDegraded);
    expect((await waitForShared(other.counters)).rates[0]?.remaining).toBeLessThanOrEqual(5);
  });
});

describe.skipIf(!hasRedis)("a Redis in trouble", () => {
  test("a Redis that stops answering makes each gateway count alone, until it is back", async () => {
    await using server = await startRedisServer();
    await using node = openNode(server);
    await waitForShared(node.counters);
    server.pause();
    await waitForLocal(node.counters);
    const decisions = await Promise.all(Array.from({ length: 2 * limit }, () => take(node.counters)));
    expect(decisions.filter(({ isAllowed }) => isAllowed).length).toBe(limit);
    expect(decisions.every(({ isDegraded }) => isDegraded)).toBe(true);
    // At most one of those at the same moment; Redis may count it when it resumes.
    const askedWhilePaused = 1;
    server.resume();
    await waitForShared(node.counters);
    const { passed, passedAtMost } = await takeAll(node.counters);
    expect(passed).toBeLessThanOrEqual(limit);
    expect(passedAtMost + askedWhilePaused).toBeGreaterThanOrEqual(limit);
  });

  test("a Redis that ends and comes back is used again, and its end is reported once", async () => {
    await using server = await startRedisServer();
    await using node = openNode(server);
    await waitForShared(node.counters);
    node.troubles.length = 0;
    await server.stop();
    await waitForLocal(node.counters);
    const decisions = await Promise.all(Array.from({ length: 2 * limit }, () => take(node.counters)));
    expect(decisions.filter(({ isAllowed }) => isAllowed).length).toBe(limit);
    expect(node.troubles.length).toBe(1);
    await server.start();
    await waitForShared(node.counters);
    const { passed, passedAtMost } = await takeAll(node.counters);
    expect(passed).toBeLessThanOrEqual(limit);
    expect(passedAtMost).toBeGreaterThanOrEqual(limit);
  });

  test("a gateway starts without Redis, and uses it when it comes", async () => {
    await using server = await startRedisServer();
    await server.stop();
    await using node = openNode(server);
    expect(await take(node.counters)).toMatchObject({ isAllowed: true, isDegraded: true });
    await server.start();
    await waitForShared(node.counters);
  });

  test("leases that end while Redis does not answer are free when it does", async () => {
    await using server = await startRedisServer();
    await using node = openNode(server);
    const lease = { key: "{acct_1}:chats", max: 1, leaseId: "one", ttlMs: 3_600_000 };
    const takeLease = (leaseId: string) => node.counters.take({ rates: [], leases: [{ ...lease, leaseId }] });
    await waitUntil("a shared lease", async () => !(await takeLease("one")).isDegraded);
    server.pause();
    await waitForLocal(node.counters);
    await node.counters.release([lease]);
    server.resume();
    await waitUntil("the place is free", async () => {
      const { isAllowed, isDegraded } = await takeLease("other");
      return isAllowed && !isDegraded;
    });
  });
});
