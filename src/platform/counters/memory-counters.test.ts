import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createMemoryCounters } from "./memory-counters.ts";

const twice = { perMinute: 2, cost: 2 };

test("beyond keysMax, an old key is evicted and starts at zero, and new keys are admitted", async () => {
  const counters = createMemoryCounters({ clock: createTestClock(), keysMax: 2 });
  const take = async (key: string) => (await counters.take({ rates: [{ key, ...twice }], leases: [] })).isAllowed;
  expect([await take("a"), await take("b"), await take("a"), await take("b")]).toEqual([true, true, false, false]);
  expect(await take("c")).toBe(true);
  expect(await take("c")).toBe(false);
  expect([await take("a"), await take("b")]).toContain(true);
});

test("refilled keys are evicted before keys in use", async () => {
  const clock = createTestClock();
  const counters = createMemoryCounters({ clock, keysMax: 100 });
  const take = (key: string, cost: number) => counters.take({ rates: [{ key, perMinute: 600, cost }], leases: [] });
  const busy = Array.from({ length: 50 }, (_, index) => `busy ${index}`);
  for (const key of busy) await take(key, 600);
  for (let index = 0; index < 50; index += 1) await take(`quiet ${index}`, 1);
  clock.advance(1000);
  for (let index = 0; index < 200; index += 1) await take("reader", 0);
  for (let index = 0; index < 50; index += 1) await take(`new ${index}`, 1);
  for (const key of busy) expect((await take(key, 600)).isAllowed).toBe(false);
});

test("beyond keysMax lease keys, a new key still gets its lease", async () => {
  const counters = createMemoryCounters({ clock: createTestClock(), keysMax: 2 });
  const take = async (key: string, leaseId: string) =>
    (await counters.take({ rates: [], leases: [{ key, max: 1, leaseId, ttlMs: 1000 }] })).isAllowed;
  for (const key of ["a", "b", "c", "d"]) {
    expect(await take(key, "one")).toBe(true);
    expect(await take(key, "other")).toBe(false);
  }
});

test("setting the wall clock changes nothing", async () => {
  const clock = createTestClock();
  let dayMs = 0;
  const counters = createMemoryCounters({ clock: { ...clock, now: () => new Date(dayMs) } });
  const take = async () => (await counters.take({ rates: [{ key: "a", ...twice }], leases: [] })).isAllowed;
  expect([await take(), await take()]).toEqual([true, false]);
  dayMs = 86_400_000;
  expect(await take()).toBe(false);
  clock.advance(60_000);
  expect(await take()).toBe(true);
});
