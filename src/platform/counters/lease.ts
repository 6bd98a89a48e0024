import type { LeaseCheck, LeaseState } from "./counters.ts";

/** What a decision found under a lease's key. */
export type LeaseLook = {
  /** Leases that have not run out. */
  liveCount: number;
  /** Whether the asked one is among them: then taking it again only extends it. */
  isHeld: boolean;
  /** Until enough of them have run out for one more; `null` where that never helps. */
  freeInUs: number | null;
};

export function hasPlace(look: Pick<LeaseLook, "liveCount" | "isHeld">, max: number): boolean {
  return look.isHeld || look.liveCount < max;
}

export function presentLease(check: LeaseCheck, look: LeaseLook, isTaken: boolean): LeaseState {
  const liveCount = look.liveCount + (isTaken && !look.isHeld ? 1 : 0);
  return {
    limit: check.max,
    remaining: Math.max(0, check.max - liveCount),
    resetMs: liveCount === 0 ? 0 : check.ttlMs,
    // Where the maximum is 0 no wait helps; the time of a lease at least keeps callers from hurrying.
    retryAfterMs: hasPlace(look, check.max) ? 0 : Math.ceil((look.freeInUs ?? check.ttlMs * 1000) / 1000),
  };
}
