/** A rate with a burst of one minute's limit. A cost of 0 only reads. */
export type RateCheck = { key: string; perMinute: number; cost: number };

/** One of at most `max` at a time, until it is released or its time is over. */
export type LeaseCheck = {
  key: string;
  max: number;
  leaseId: string;
  ttlMs: number;
  /** What is worked on meanwhile, where a lease is usually released when that is done, long before its time is over. */
  work?: string;
};

export type RateState = {
  limit: number;
  /** How many units would pass at this very moment. */
  remaining: number;
  /** Until nothing is used any more. */
  resetMs: number;
  /** Until the same check would pass, if nobody else takes anything; 0 when it passed. */
  retryAfterMs: number;
};

export type LeaseState = {
  limit: number;
  remaining: number;
  /** Until one of those that are held is given back: at the latest, or usually where that is known. 0 when none is. */
  resetMs: number;
  /** Until enough leases have run out, or have likely been released where that is known; 0 when the check passed. */
  retryAfterMs: number;
};

export type CounterDecision = {
  isAllowed: boolean;
  /** Whether this process decided alone because the shared counters did not answer. */
  isDegraded: boolean;
  /** In the order of the checks, as it is after the decision. */
  rates: readonly RateState[];
  leases: readonly LeaseState[];
};

/** Counts what is used, in this process or for all that share one Redis. */
export type Counters = {
  /** All or nothing: either every check passes and everything is taken, or nothing is. No key may come twice. */
  take(checks: { rates: readonly RateCheck[]; leases: readonly LeaseCheck[] }): Promise<CounterDecision>;
  /** Corrects an estimate afterwards: a positive delta takes more, a negative gives back, never beyond full. */
  correct(rate: { key: string; perMinute: number; delta: number }): Promise<void>;
  /** Extends a lease that is still held; one that was released or has run out stays gone. */
  renew(lease: { key: string; leaseId: string; ttlMs: number }): Promise<void>;
  /** Whoever holds none of them changes nothing. */
  release(leases: readonly { key: string; leaseId: string }[]): Promise<void>;
  close(): Promise<void>;
};
