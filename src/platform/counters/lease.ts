import type { LeaseCheck, LeaseState } from "./counters.ts";

/** The leases of a key at a decision. */
export type LeaseSnapshot = {
  /** Leases that have not expired. */
  liveCount: number;
  /** Whether the requested lease is held: then taking it only extends it. */
  isHeld: boolean;
  /** Time until enough leases expire; `null` if that never helps. */
  freeInUs: number | null;
};

export function hasFreeLease(found: Pick<LeaseSnapshot, "liveCount" | "isHeld">, max: number): boolean {
  return found.isHeld || found.liveCount < max;
}

export function presentLease(check: LeaseCheck, found: LeaseSnapshot, isTaken: boolean): LeaseState {
  const liveCount = found.liveCount + (isTaken && !found.isHeld ? 1 : 0);
  return {
    limit: check.max,
    remaining: Math.max(0, check.max - liveCount),
    resetMs: liveCount === 0 ? 0 : check.ttlMs,
    // With a maximum of 0 no wait helps; the TTL at least prevents a tight retry loop.
    retryAfterMs: hasFreeLease(found, check.max) ? 0 : Math.ceil((found.freeInUs ?? check.ttlMs * 1000) / 1000),
  };
}
