/** How much a caller may do at a time. Plans, accounts and keys each may set any of them. */
export type LimitSet = {
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrentRequests: number;
  tasksInFlight: number;
};

/** What holds where neither the account nor its plan says otherwise. */
export const standardLimits: Readonly<LimitSet> = {
  requestsPerMinute: 600,
  tokensPerMinute: 1_000_000,
  concurrentRequests: 100,
  tasksInFlight: 50,
};
