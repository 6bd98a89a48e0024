import { type Duplex, duplexPair } from "node:stream";
import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { readJsonLines, writeJsonLine } from "./counter-protocol.ts";
import { createMemoryCounters } from "./memory-counters.ts";
import { createRemoteCounters } from "./remote-counters.ts";
import { serveCounters } from "./serve-counters.ts";

const one = { rates: [{ key: "a", perMinute: 3, cost: 1 }], leases: [] };

/** The supervisor's end; frames pass only while the gate is open. */
function openGated(counted: Duplex): { frames: unknown[]; letThrough(): void } {
  const [near, far] = duplexPair();
  serveCounters(createMemoryCounters({ clock: createTestClock() }), far);
  const frames: unknown[] = [];
  readJsonLines(counted, (frame) => frames.push(frame));
  readJsonLines(near, (frame) => writeJsonLine(counted, frame));
  return {
    frames,
    letThrough() {
      for (const frame of frames.splice(0)) writeJsonLine(near, frame);
    },
  };
}

test("concurrent processes together get exactly the limit", async () => {
  const counted = createMemoryCounters({ clock: createTestClock() });
  const processes = Array.from({ length: 4 }, () => {
    const [own, others] = duplexPair();
    serveCounters(counted, others);
    return createRemoteCounters({ stream: own });
  });
  const rates = [{ key: "a", perMinute: 50, cost: 1 }];
  const asked = processes.flatMap((counters) => Array.from({ length: 25 }, () => counters.take({ rates, leases: [] })));
  const decisions = await Promise.all(asked);
  expect(decisions.filter(({ isAllowed }) => isAllowed)).toHaveLength(50);
  await Promise.all(processes.map((counters) => counters.close()));
});

test("requests made while one is in flight share one frame", async () => {
  const [own, others] = duplexPair();
  const gate = openGated(others);
  const counters = createRemoteCounters({ stream: own });
  const asked = [counters.take(one)];
  await waitUntil("the first question", () => gate.frames.length === 1);
  for (let index = 0; index < 9; index += 1) asked.push(counters.take(one));
  gate.letThrough();
  await waitUntil("the others", () => gate.frames.length === 1);
  expect(gate.frames).toEqual([[2, Array(9).fill(["take", one])]]);
  gate.letThrough();
  expect((await Promise.all(asked)).filter(({ isAllowed }) => isAllowed)).toHaveLength(3);
  await counters.close();
});

test("a timeout is an error, and the late response is discarded", async () => {
  const [own, others] = duplexPair();
  const gate = openGated(others);
  const counters = createRemoteCounters({ stream: own, timeoutMs: 50 });
  await expect(counters.take(one)).rejects.toThrow("no response within 50 ms");
  const second = counters.take({ ...one, rates: [{ key: "b", perMinute: 7, cost: 1 }] });
  await Promise.resolve();
  // Both get a response now, the timed-out one first.
  const passing = setInterval(gate.letThrough, 0);
  expect(await second).toMatchObject({ rates: [{ limit: 7 }] });
  clearInterval(passing);
  own.destroy();
  await expect(counters.take(one)).rejects.toThrow("the connection to the counters was closed");
});

test("a dead process's leases are released", async () => {
  const counted = createMemoryCounters({ clock: createTestClock() });
  const [dying, living] = Array.from({ length: 2 }, () => {
    const [own, others] = duplexPair();
    serveCounters(counted, others);
    return { counters: createRemoteCounters({ stream: own }), die: () => others.destroy() };
  });
  const take = async (process: typeof dying, leaseId: string) => {
    const lease = { key: "a", max: 2, leaseId, ttlMs: 3_600_000 };
    return (await process?.counters.take({ rates: [], leases: [lease] }))?.isAllowed;
  };
  expect([await take(dying, "1"), await take(living, "2"), await take(living, "3")]).toEqual([true, true, false]);
  dying?.die();
  await waitUntil("a free place", () => take(living, "3"));
  expect(await take(living, "4")).toBe(false);
});
