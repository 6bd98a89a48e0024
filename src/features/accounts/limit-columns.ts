import type { LimitSet } from "../../lib/limit-set.ts";

/** The limit columns that plans, accounts and keys share. */
type LimitColumns = {
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  tasks_in_flight: number | null;
};

export const limitColumnNames = [
  "requests_per_minute",
  "tokens_per_minute",
  "concurrent_requests",
  "tasks_in_flight",
] as const satisfies readonly (keyof LimitColumns)[];

export function toLimits(row: LimitColumns): Partial<LimitSet> {
  return {
    ...(row.requests_per_minute === null ? {} : { requestsPerMinute: row.requests_per_minute }),
    ...(row.tokens_per_minute === null ? {} : { tokensPerMinute: row.tokens_per_minute }),
    ...(row.concurrent_requests === null ? {} : { concurrentRequests: row.concurrent_requests }),
    ...(row.tasks_in_flight === null ? {} : { tasksInFlight: row.tasks_in_flight }),
  };
}

export function toLimitColumns(limits: Partial<LimitSet>): LimitColumns {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    concurrent_requests: limits.concurrentRequests ?? null,
    tasks_in_flight: limits.tasksInFlight ?? null,
  };
}
