import type { Caller } from "../../lib/caller.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Counters, RateCheck, RateState } from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { presentDuration, presentLimitHeaders, presentRetryHeaders } from "./limit-headers.ts";

type LimitedCaller = Pick<Caller, "accountId" | "keyId" | "accountLimits" | "keyLimits">;

type RequestLimit = RateCheck & { owner: "account" | "API key"; unit: "requests" | "reads" };

/** Reads are cheap, and whoever waits for a task makes many of them. */
const readsPerWrite = 5;

/** Counts one request and returns the headers to answer with; throws where a limit does not allow it. */
export async function consumeRequestLimit(
  counters: Counters,
  caller: LimitedCaller,
  kind: "read" | "write",
): Promise<Record<string, string>> {
  const limits = listRequestLimits(caller, kind);
  const decision = await counters.take({ rates: [...limits, ...listTokenLimits(caller)], leases: [] });
  const requests = decision.rates.slice(0, limits.length);
  const tokens = decision.rates.slice(limits.length);
  const headers = presentLimitHeaders({ requests, tokens }, decision.isDegraded);
  if (!decision.isAllowed) throw createRefusal(limits, requests, headers);
  return headers;
}

/** The braces make Redis keep all counters of an account together, so that one call can take from several. */
function listRequestLimits(caller: LimitedCaller, kind: "read" | "write"): RequestLimit[] {
  const { accountId, keyId, accountLimits, keyLimits } = caller;
  const createLimit = (owner: RequestLimit["owner"], prefix: string, requestsPerMinute: number): RequestLimit =>
    kind === "read"
      ? { owner, unit: "reads", key: `${prefix}:reads`, perMinute: requestsPerMinute * readsPerWrite, cost: 1 }
      : { owner, unit: "requests", key: `${prefix}:requests`, perMinute: requestsPerMinute, cost: 1 };
  return [
    createLimit("account", `{${accountId}}`, accountLimits.requestsPerMinute),
    ...(keyLimits.requestsPerMinute === undefined
      ? []
      : [createLimit("API key", `{${accountId}}:${keyId}`, keyLimits.requestsPerMinute)]),
  ];
}

/** Tokens are taken once it is known how many; here they cost nothing and are read for the headers. */
function listTokenLimits({ accountId, keyId, accountLimits, keyLimits }: LimitedCaller): RateCheck[] {
  return [
    { key: `{${accountId}}:tokens`, perMinute: accountLimits.tokensPerMinute, cost: 0 },
    ...(keyLimits.tokensPerMinute === undefined
      ? []
      : [{ key: `{${accountId}}:${keyId}:tokens`, perMinute: keyLimits.tokensPerMinute, cost: 0 }]),
  ];
}

/** Names the limit that takes longest to allow the request, because until then the others do not matter. */
function createRefusal(
  limits: readonly RequestLimit[],
  states: readonly RateState[],
  headers: Record<string, string>,
): AppError {
  const retryAfterMs = Math.max(...states.map((state) => state.retryAfterMs));
  const limit = limits.find((_, index) => states[index]?.retryAfterMs === retryAfterMs);
  invariant(limit !== undefined, "a refusal comes from one of the limits");
  const name = `the ${limit.owner}'s limit of ${limit.perMinute} ${limit.unit} per minute`;
  return new AppError(
    "rate_limit_exceeded",
    `Too many requests: ${name} is used up. Retry in ${presentDuration(retryAfterMs)}.`,
    { headers: { ...headers, ...presentRetryHeaders(retryAfterMs) }, detail: { limit: limit.key } },
  );
}
