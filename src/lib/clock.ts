/** The time of day and a time that only grows. Tests hand in one that they move themselves. */
export type Clock = {
  now(): Date;
  /** For measuring durations: never jumps when the machine's clock is set. */
  monotonicMs(): number;
};

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
