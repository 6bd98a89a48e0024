/** Wall-clock and monotonic time. Tests inject a fake clock. */
export type Clock = {
  now(): Date;
  /** For durations: does not jump when the system clock is set. */
  monotonicMs(): number;
};

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
