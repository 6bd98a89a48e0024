import type { RateState } from "../counters/counters.ts";
import type { SeenLimits } from "./request-context.ts";

export const nothingSeen: SeenLimits = {
  requests: null,
  tokens: null,
  tightestRequests: null,
  tightestTokens: null,
  places: null,
  isDegraded: false,
};

/** Literals: concatenated strings are slow as property names in V8. */
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

/**
 * Rate limit headers: the limit with the smallest share left, and per kind, in OpenAI's names, the one with the least
 * left. A whole response has already released its concurrency lease; a stream has not.
 */
export function presentLimitHeaders(
  states: SeenLimits,
  answer: "whole" | "going-on" = "whole",
): Record<string, string> {
  const headers: Record<string, string> = {};
  addLimitHeaders(headers, states, answer);
  return headers;
}

/** The same, added to other headers. */
export function addLimitHeaders(
  headers: Record<string, unknown>,
  states: SeenLimits,
  answer: "whole" | "going-on",
): void {
  const { requests, tokens } = states;
  const all = findTightest(states, answer);
  if (all !== null) {
    headers["x-ratelimit-limit"] = String(all.limit);
    headers["x-ratelimit-remaining"] = String(all.remaining);
    headers["x-ratelimit-reset"] = String(Math.ceil(all.resetMs / 1000));
  }
  if (requests !== null) addKind(headers, headerNames.requests, requests);
  if (tokens !== null) addKind(headers, headerNames.tokens, tokens);
  if (states.isDegraded) headers["x-ratelimit-degraded"] = "1";
}

function findTightest(
  { tightestRequests, tightestTokens, places }: SeenLimits,
  answer: "whole" | "going-on",
): LimitState | null {
  const rates = tightestTokens === null ? tightestRequests : chooseTighter(tightestRequests, tightestTokens);
  if (places === null) return rates;
  return chooseTighter(rates, answer === "whole" ? returnPlace(places) : places);
}

type LimitState = Omit<RateState, "retryAfterMs">;

/** The one with the smaller share left; the first if they are equal. */
export function chooseTighter<S extends LimitState>(one: S | null, other: S): S {
  // Cross-multiplied, because a limit may be 0.
  return one === null || other.remaining * one.limit < one.remaining * other.limit ? other : one;
}

function returnPlace({ limit, remaining, resetMs }: LimitState): LimitState {
  const left = Math.min(limit, remaining + 1);
  return { limit, remaining: left, resetMs: left === limit ? 0 : resetMs };
}

function addKind(
  headers: Record<string, unknown>,
  names: (typeof headerNames)["requests" | "tokens"],
  { limit, remaining, resetMs }: RateState,
): void {
  headers[names.limit] = String(limit);
  headers[names.remaining] = String(remaining);
  headers[names.reset] = presentDuration(resetMs);
}

/** Return at least 1 s so clients don't retry in a tight loop; `retry-after-ms` is exact. */
export function presentRetryHeaders(retryAfterMs: number): Record<string, string> {
  return {
    "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))),
    "retry-after-ms": String(retryAfterMs),
  };
}

/** OpenAI's duration format: `12ms`, `1.5s`, `6m0s`. */
export function presentDuration(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1000) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / 60_000);
  const hours = Math.floor(minutes / 60);
  const seconds = `${(milliseconds % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes % 60}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
