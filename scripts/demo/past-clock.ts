import { type Clock, systemClock } from "../../src/lib/clock.ts";

/** A running clock that starts in the past and can be moved forward. */
export type PastClock = Clock & {
  /** Moves forward only. */
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
