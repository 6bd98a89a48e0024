import type { RateState } from "../../platform/counters/counters.ts";

/** What a decision saw of each kind of limit: the account's and, where it has one, the key's. */
export type LimitStates = { requests: readonly RateState[]; tokens: readonly RateState[]; isDegraded: boolean };

/** The headers that every answer has: the tightest limit of all, and the tightest of each kind as OpenAI names them. */
export function presentLimitHeaders(states: LimitStates): Record<string, string> {
  const all = findTightest([...states.requests, ...states.tokens]);
  const headers: Record<string, string> = {};
  if (all !== null) {
    headers["x-ratelimit-limit"] = String(all.limit);
    headers["x-ratelimit-remaining"] = String(all.remaining);
    headers["x-ratelimit-reset"] = String(Math.ceil(all.resetMs / 1000));
  }
  for (const kind of ["requests", "tokens"] as const) {
    const tightest = findTightest(states[kind]);
    if (tightest === null) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(tightest.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(tightest.remaining);
    headers[`x-ratelimit-reset-${kind}`] = presentDuration(tightest.resetMs);
  }
  if (states.isDegraded) headers["x-ratelimit-degraded"] = "1";
  return headers;
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

/** Of limits with equally little left, the first. */
function findTightest(states: readonly RateState[]): RateState | null {
  return states.reduce<RateState | null>(
    (tightest, state) => (tightest === null || state.remaining < tightest.remaining ? state : tightest),
    null,
  );
}
