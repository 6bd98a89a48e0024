import { describe, expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import type { Counters } from "./counters.ts";
import { createCountersWithFallback } from "./counters-with-fallback.ts";
import { createMemoryCounters } from "./memory-counters.ts";

type Behaviour = "answers" | "fails" | "acts but does not answer" | "throws at once";

/** Counters with fallback; the shared ones are in memory and can be made to fail. */
function createParts() {
  const clock = createTestClock();
  const there = createMemoryCounters({ clock });
  const local = createMemoryCounters({ clock });
  const troubles: unknown[] = [];
  const parts = { clock, there, local, troubles, answers: 0, behaviour: "answers" as Behaviour, asked: [] as string[] };

  function pass<A extends unknown[], R>(name: string, operation: (...args: A) => Promise<R>) {
    return (...args: A): Promise<R> => {
      parts.asked.push(name);
      const trouble = new Error(`no answer to ${name}`);
      if (parts.behaviour === "throws at once") throw trouble;
      if (parts.behaviour === "fails") return Promise.reject(trouble);
      if (parts.behaviour === "answers") return Promise.resolve(operation(...args));
      return Promise.resolve(operation(...args)).then(() => Promise.reject(trouble));
    };
  }

  const shared: Counters = {
    take: pass("take", there.take),
    correct: pass("correct", there.correct),
    renew: pass("renew", there.renew),
    release: pass("release", there.release),
    close: there.close,
  };
  const counters = createCountersWithFallback({
    ...{ shared, local, clock },
    onTrouble: (error) => troubles.push(error),
    onRecovery() {
      parts.answers += 1;
    },
  });
  return Object.assign(parts, { counters });
}

const unitRate = { key: "a", perMinute: 10, delta: 1 };
const unit = { rates: [{ key: "a", perMinute: 10, cost: 1 }], leases: [] };
const reading = { rates: [{ key: "a", perMinute: 10, cost: 0 }], leases: [] };

function lease(leaseId: string, max = 1) {
  return { key: "chats", max, leaseId, ttlMs: 60_000 };
}

async function isAllowedBy(counters: Counters, leaseId: string): Promise<boolean> {
  return (await counters.take({ rates: [], leases: [lease(leaseId)] })).isAllowed;
}

describe("a take", () => {
  test("uses only the shared counters while they respond", async () => {
    const { counters, local, troubles } = createParts();
    expect(await counters.take(unit)).toMatchObject({ isAllowed: true, isDegraded: false });
    expect((await counters.take(unit)).rates[0]?.remaining).toBe(8);
    expect((await local.take(reading)).rates[0]?.remaining).toBe(10);
    expect(troubles).toEqual([]);
  });

  test.each(["fails", "throws at once", "acts but does not answer"] as const)(
    "falls back to the local counters and is marked degraded when the shared one %s",
    async (behaviour) => {
      const parts = createParts();
      parts.behaviour = behaviour;
      for (let count = 0; count < 10; count += 1) {
        expect(await parts.counters.take(unit)).toMatchObject({ isAllowed: true, isDegraded: true });
      }
      expect(await parts.counters.take(unit)).toMatchObject({ isAllowed: false, isDegraded: true });
    },
  );
});

describe("while the shared counters are unavailable", () => {
  test("one request per 250 ms probes them", async () => {
    const parts = createParts();
    parts.behaviour = "fails";
    for (let elapsedMs = 0; elapsedMs < 1000; elapsedMs += 10) {
      await Promise.all([
        parts.counters.take(unit),
        parts.counters.take(unit),
        parts.counters.correct({ ...unitRate }),
      ]);
      parts.clock.advance(10);
    }
    // Three concurrent calls at first, then one probe per 250 ms.
    expect(parts.asked.length).toBe(3 + 3);
  });

  test("each outage is reported once, and every success", async () => {
    const parts = createParts();
    for (const expected of [1, 2]) {
      parts.behaviour = "fails";
      for (let count = 0; count < 5; count += 1) {
        await parts.counters.take(unit);
        parts.clock.advance(250);
      }
      expect([parts.troubles.length, parts.answers]).toEqual([expected, expected - 1]);
      parts.behaviour = "answers";
      expect(await parts.counters.take(unit)).toMatchObject({ isDegraded: false });
    }
  });

  test("no operation throws", async () => {
    const parts = createParts();
    for (const behaviour of ["fails", "throws at once"] as const) {
      parts.behaviour = behaviour;
      parts.clock.advance(250);
      await parts.counters.take(unit);
      parts.clock.advance(250);
      await parts.counters.correct(unitRate);
      parts.clock.advance(250);
      await parts.counters.renew(lease("one"));
      parts.clock.advance(250);
      await parts.counters.release([lease("one")]);
    }
    expect(parts.asked).toEqual(["take", "correct", "renew", "release", "take", "correct", "renew", "release"]);
  });

  test("corrections and leases apply locally", async () => {
    const parts = createParts();
    parts.behaviour = "fails";
    await parts.counters.take(unit);
    await parts.counters.correct({ ...unitRate, delta: 4 });
    expect((await parts.counters.take(reading)).rates[0]?.remaining).toBe(5);
    expect(await isAllowedBy(parts.counters, "one")).toBe(true);
    expect(await isAllowedBy(parts.counters, "other")).toBe(false);
    parts.clock.advance(50_000);
    await parts.counters.renew(lease("one"));
    parts.clock.advance(50_000);
    expect(await isAllowedBy(parts.counters, "other")).toBe(false);
    await parts.counters.release([lease("one")]);
    expect(await isAllowedBy(parts.counters, "other")).toBe(true);
  });
});

describe("when the shared counters recover", () => {
  test("they decide again from their last state", async () => {
    const parts = createParts();
    await parts.counters.take(unit);
    parts.behaviour = "fails";
    for (let count = 0; count < 5; count += 1) await parts.counters.take(unit);
    parts.behaviour = "answers";
    expect(await parts.counters.take(unit)).toMatchObject({ isDegraded: true });
    parts.clock.advance(250);
    const decision = await parts.counters.take(unit);
    expect(decision).toMatchObject({ isDegraded: false });
    expect(decision.rates[0]?.remaining).toBe(8);
    expect(await parts.counters.take(unit)).toMatchObject({ isDegraded: false });
  });

  test("leases released meanwhile are released there too", async () => {
    const parts = createParts();
    expect(await isAllowedBy(parts.counters, "one")).toBe(true);
    parts.behaviour = "fails";
    await parts.counters.release([lease("one")]);
    parts.behaviour = "answers";
    expect(await isAllowedBy(parts.there, "other")).toBe(false);
    parts.clock.advance(250);
    await parts.counters.take(reading);
    await waitUntil("the lease is free", () => isAllowedBy(parts.there, "other"));
  });

  test("a lease they granted without a response, and that was rejected locally, is released there", async () => {
    const parts = createParts();
    parts.behaviour = "fails";
    expect(await isAllowedBy(parts.counters, "one")).toBe(true);
    parts.clock.advance(250);
    parts.behaviour = "acts but does not answer";
    expect(await isAllowedBy(parts.counters, "other")).toBe(false);
    expect(await isAllowedBy(parts.there, "third")).toBe(false);
    parts.clock.advance(250);
    parts.behaviour = "answers";
    await parts.counters.take(reading);
    await waitUntil("the lease is free", () => isAllowedBy(parts.there, "third"));
  });

  test("failed releases are retried", async () => {
    const parts = createParts();
    expect(await isAllowedBy(parts.counters, "one")).toBe(true);
    parts.behaviour = "fails";
    await parts.counters.release([lease("one")]);
    parts.clock.advance(250);
    parts.behaviour = "answers";
    const taken = parts.counters.take(reading);
    parts.behaviour = "fails";
    await taken;
    await waitUntil("the release failed", () => parts.asked.at(-1) === "release" && parts.troubles.length === 2);
    parts.clock.advance(250);
    parts.behaviour = "answers";
    await parts.counters.take(reading);
    await waitUntil("the lease is free", () => isAllowedBy(parts.there, "other"));
  });

  test("missed releases are sent in batches of 100, and at most 10 000 are kept", async () => {
    const parts = createParts();
    parts.behaviour = "fails";
    for (let count = 0; count < 10_100; count += 1) await parts.counters.release([lease(`lease ${count}`)]);
    parts.clock.advance(250);
    parts.behaviour = "answers";
    parts.asked.length = 0;
    for (let count = 0; count < 200; count += 1) await parts.counters.take(reading);
    expect(parts.asked.filter((name) => name === "release").length).toBe(100);
  });
});
