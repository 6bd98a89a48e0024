import type { RateState } from "../../platform/counters/counters.ts";

/** What a decision saw of each kind of limit: of the account's and the key's the one with less left. */
export type LimitStates = { requests: RateState | null; tokens: RateState | null; isDegraded: boolean };

/** Written out, because a name that is put together anew is dear to use as one. */
const headerNames = {
  requests: {
    limit: "x-ratelimit-limit-requests",
    remaining: "x-ratelimit-remaining-requests",
    reset: "x-ratelimit-reset-requests",
  },
  tokens: {
    limit: "x-ratelimit-limit-tokens",
    remaining: "x-ratelimit-remaining-tokens",
    reset: "x-ratelimit-reset-tokens",
  },
} as const;

/** The headers that every answer has: the tightest limit of all, and the tightest of each kind as OpenAI names them. */
export function presentLimitHeaders(states: LimitStates): Record<string, string> {
  const { requests, tokens } = states;
  const all = requests === null || (tokens !== null && tokens.remaining < requests.remaining) ? tokens : requests;
  const headers: Record<string, string> = {};
  if (all !== null) {
    headers["x-ratelimit-limit"] = String(all.limit);
    headers["x-ratelimit-remaining"] = String(all.remaining);
    headers["x-ratelimit-reset"] = String(Math.ceil(all.resetMs / 1000));
  }
  if (requests !== null) addKind(headers, headerNames.requests, requests);
  if (tokens !== null) addKind(headers, headerNames.tokens, tokens);
  if (states.isDegraded) headers["x-ratelimit-degraded"] = "1";
  return headers;
}

function addKind(
  headers: Record<string, string>,
  names: (typeof headerNames)["requests" | "tokens"],
  { limit, remaining, resetMs }: RateState,
): void {
  headers[names.limit] = String(limit);
  headers[names.remaining] = String(remaining);
  headers[names.reset] = presentDuration(resetMs);
}

/** Whole seconds for every client, at least one because 0 means "at once"; milliseconds for those that know them. */
export function presentRetryHeaders(retryAfterMs: number): Record<string, string> {
  return {
    "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))),
    "retry-after-ms": String(retryAfterMs),
  };
}

/** As OpenAI writes durations: `12ms`, `1.5s`, `6m0s`. */
export function presentDuration(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1000) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / 60_000);
  const hours = Math.floor(minutes / 60);
  const seconds = `${(milliseconds % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes % 60}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
