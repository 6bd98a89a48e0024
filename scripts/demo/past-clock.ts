import { type Clock, systemClock } from "../../src/lib/clock.ts";

/** A clock that runs like any other, but begins in the past and is set forward from there. */
export type PastClock = Clock & {
  /** Never back: a moment that is over stays over. */
  moveTo(moment: Date): void;
};

export function createPastClock(start: Date): PastClock {
  let aheadMs = start.getTime() - systemClock.now().getTime();
  const beganMs = aheadMs;
  return {
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + (aheadMs - beganMs),
    moveTo(moment) {
      aheadMs = Math.max(aheadMs, moment.getTime() - systemClock.now().getTime());
    },
  };
}
