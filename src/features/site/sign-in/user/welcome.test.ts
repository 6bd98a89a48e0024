import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createMemoryCounters } from "../../../../platform/counters/memory-counters.ts";
import { createLogger } from "../../../../platform/observability/logger.ts";
import { createThrottle } from "../throttle.ts";
import { createWelcome } from "./welcome.ts";

function createGate(dailyMax: number) {
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const logger = createLogger({ level: "error", format: "json", write: () => {} });
  const mayWelcome = createWelcome({
    ...{ logger, dailyMax },
    beginAttempt: createThrottle(createMemoryCounters({ clock }), randomBytes),
  });
  return { mayWelcome, passDay: () => (nowMs += 24 * 60 * 60_000) };
}

const networks = ["192.0.2.1", "192.0.2.2", "192.0.2.3"] as const;

test("one network gets ten welcome credits a day, and others still get theirs", async () => {
  const { mayWelcome, passDay } = createGate(100);
  const outcomes: boolean[] = [];
  for (let count = 0; count < 12; count += 1) outcomes.push(await mayWelcome(networks[0]));
  expect(outcomes.filter((isWelcome) => isWelcome).length).toBe(10);
  expect(await mayWelcome(networks[1])).toBe(true);
  passDay();
  expect(await mayWelcome(networks[0])).toBe(true);
});

test("the operator's daily limit applies to all networks, and without a credit there is none", async () => {
  const { mayWelcome } = createGate(2);
  expect(await Promise.all(networks.map(mayWelcome))).toEqual([true, true, false]);
  expect(await createGate(0).mayWelcome(networks[0])).toBe(false);
});
