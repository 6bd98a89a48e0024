/** Rate and concurrency limits, set by plans, accounts or keys. */
export type LimitSet = {
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrentRequests: number;
  tasksInFlight: number;
};

/** Defaults without a limit of the account or plan. */
export const standardLimits: Readonly<LimitSet> = {
  requestsPerMinute: 600,
  tokensPerMinute: 1_000_000,
  concurrentRequests: 100,
  tasksInFlight: 50,
};
