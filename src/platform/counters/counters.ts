/** A rate limit with a burst of one minute's limit. A cost of 0 only reads. */
export type RateCheck = { key: string; perMinute: number; cost: number };

/** A concurrency limit: at most `max` leases, until released or expired. */
export type LeaseCheck = {
  key: string;
  max: number;
  leaseId: string;
  ttlMs: number;
  /** The kind of work, for leases that are usually released long before they expire. */
  work?: string;
};

export type RateState = {
  limit: number;
  /** Units that would pass now. */
  remaining: number;
  /** Time until the limit is fully restored. */
  resetMs: number;
  /** Time until the same check passes, without other traffic; 0 if it passed. */
  retryAfterMs: number;
};

export type LeaseState = {
  limit: number;
  remaining: number;
  /** Estimated or latest time until a lease is released; 0 if none is held. */
  resetMs: number;
  /** Estimated or latest time until enough leases are free; 0 if the check passed. */
  retryAfterMs: number;
};

export type CounterDecision = {
  isAllowed: boolean;
  /** The shared counters were unavailable and this process decided alone. */
  isDegraded: boolean;
  /** In the order of the checks, after the decision. */
  rates: readonly RateState[];
  leases: readonly LeaseState[];
};

/** Rate and concurrency counters, in this process or shared through Redis. */
export type Counters = {
  /** Atomic: takes everything if every check passes, else nothing. Keys must be distinct. */
  take(checks: { rates: readonly RateCheck[]; leases: readonly LeaseCheck[] }): Promise<CounterDecision>;
  /** Corrects an estimate: a positive delta takes more, a negative one returns units, up to the limit. */
  correct(rate: { key: string; perMinute: number; delta: number }): Promise<void>;
  /** Extends a lease that is still held. */
  renew(lease: { key: string; leaseId: string; ttlMs: number }): Promise<void>;
  /** Ignores leases that are not held. */
  release(leases: readonly { key: string; leaseId: string }[]): Promise<void>;
  close(): Promise<void>;
};
