import type { Account } from "../features/accounts/index.ts";

type Limits = Account["limits"];

export function presentLimits(limits: Limits): string {
  const parts = Object.entries(presentLimitsJson(limits)).map(([name, value]) => `${name} ${value}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}

export function presentLimitsJson(limits: Limits): Record<string, number> {
  return {
    ...(limits.requestsPerMinute === undefined ? {} : { requests_per_minute: limits.requestsPerMinute }),
    ...(limits.tokensPerMinute === undefined ? {} : { tokens_per_minute: limits.tokensPerMinute }),
    ...(limits.concurrentRequests === undefined ? {} : { concurrent_requests: limits.concurrentRequests }),
    ...(limits.tasksInFlight === undefined ? {} : { tasks_in_flight: limits.tasksInFlight }),
  };
}
