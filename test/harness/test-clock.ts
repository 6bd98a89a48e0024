import { type Clock, systemClock } from "../../src/lib/clock.ts";

export type TestClock = Clock & { advance(milliseconds: number): void };

/** A clock that stands still until a test moves it. */
export function createTestClock(start = new Date("2026-01-01T00:00:00Z")): TestClock {
  let elapsedMs = 0;
  return {
    now: () => new Date(start.getTime() + elapsedMs),
    monotonicMs: () => elapsedMs,
    advance(milliseconds) {
      elapsedMs += milliseconds;
    },
  };
}

/** A clock that runs normally, and can be set forward. For tests that need time to pass, such as those of tasks. */
export function createRunningClock(): TestClock {
  let aheadMs = 0;
  return {
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    advance(milliseconds) {
      aheadMs += milliseconds;
    },
  };
}
