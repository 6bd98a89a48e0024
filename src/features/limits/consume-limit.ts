import type { Caller } from "../../lib/caller.ts";
import type { Counters, LeaseCheck, LeaseState, RateCheck, RateState } from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { presentDuration, presentLimitHeaders, presentRetryHeaders } from "./limit-headers.ts";

type LimitedCaller = Pick<Caller, "accountId" | "keyId" | "accountLimits" | "keyLimits">;

/** A place among the caller's running calls or tasks, held until it is returned or its time is over. */
export type Slot = { use: "request" | "task"; id: string; ttlMs: number };

/** What a call wants of its caller's limits. */
export type Demand = {
  /** Counts it as one request: reads have a limit of their own. */
  request?: "read" | "write";
  /** How many tokens it may use; what it really used is told by `correctTokens`. */
  tokens?: number;
  slot?: Slot;
};

type Rate = RateCheck & { owner: "account" | "API key"; unit: "requests" | "reads" | "tokens" };
type Lease = LeaseCheck & { owner: "account" | "API key"; unit: "requests" | "tasks" };
type Refusal = { code: ErrorCode; limit: string; key: string; retryAfterMs: number };

/** Reads are cheap, and whoever waits for a task makes many of them. */
const readsPerWrite = 5;

/**
 * Takes all that a call demands, from the account's limits and the key's, or nothing. Returns the headers to answer
 * with; throws where a limit does not allow it.
 */
export async function consumeLimits(
  counters: Counters,
  caller: LimitedCaller,
  demand: Demand,
): Promise<Record<string, string>> {
  const rates = listOwners(caller).flatMap((owner) => listRates(owner, demand));
  const leases = demand.slot === undefined ? [] : listLeases(caller, demand.slot);
  const decision = await counters.take({ rates, leases });
  const headers = presentLimitHeaders(
    {
      requests: decision.rates.filter((_state, index) => rates[index]?.unit !== "tokens"),
      tokens: decision.rates.filter((_state, index) => rates[index]?.unit === "tokens"),
    },
    decision.isDegraded,
  );
  if (decision.isAllowed) return headers;
  const refusals = [
    ...pair(rates, decision.rates).map(describeRate),
    ...pair(leases, decision.leases).map(describeLease),
  ];
  throw createRefusal(refusals, headers);
}

/** Each check with what the counters say of it; they answer in the order of the checks. */
function pair<C, S>(checks: readonly C[], states: readonly S[]): { check: C; state: S }[] {
  return checks.flatMap((check, index) => states.slice(index, index + 1).map((state) => ({ check, state })));
}

/** Tells how many tokens a call really used, beyond those it was counted with, or fewer. */
export async function correctTokens(counters: Counters, caller: LimitedCaller, delta: number): Promise<void> {
  const rates = listOwners(caller).flatMap((owner) => listRates(owner, { tokens: 0 }));
  await Promise.all(rates.map(({ key, perMinute }) => counters.correct({ key, perMinute, delta })));
}

/** Gives a place back. Once is enough, and more does no harm. */
export async function returnSlot(counters: Counters, caller: LimitedCaller, slot: Slot): Promise<void> {
  await counters.release(listLeases(caller, slot));
}

type Owner = { owner: "account" | "API key"; prefix: string; limits: Partial<LimitedCaller["accountLimits"]> };

/** All keys of a request share the account's hash tag, so that a cluster keeps them in one place. */
function listOwners({ accountId, keyId, accountLimits, keyLimits }: LimitedCaller): Owner[] {
  return [
    { owner: "account", prefix: `{${accountId}}`, limits: accountLimits },
    { owner: "API key", prefix: `{${accountId}}:${keyId}`, limits: keyLimits },
  ];
}

/** Tokens are always looked at, so that the headers can tell of them. */
function listRates({ owner, prefix, limits }: Owner, demand: Demand): Rate[] {
  const rates: Rate[] = [];
  if (limits.requestsPerMinute !== undefined && demand.request !== undefined) {
    const [unit, factor] = demand.request === "read" ? (["reads", readsPerWrite] as const) : (["requests", 1] as const);
    rates.push({ owner, unit, key: `${prefix}:${unit}`, perMinute: limits.requestsPerMinute * factor, cost: 1 });
  }
  if (limits.tokensPerMinute !== undefined) {
    const cost = demand.tokens ?? 0;
    rates.push({ owner, unit: "tokens", key: `${prefix}:tokens`, perMinute: limits.tokensPerMinute, cost });
  }
  return rates;
}

function listLeases(caller: LimitedCaller, { use, id, ttlMs }: Slot): Lease[] {
  return listOwners(caller).flatMap(({ owner, prefix, limits }) => {
    const max = use === "request" ? limits.concurrentRequests : limits.tasksInFlight;
    if (max === undefined) return [];
    return [{ owner, unit: `${use}s` as const, key: `${prefix}:running-${use}s`, max, leaseId: id, ttlMs }];
  });
}

function describeRate({ check, state }: { check: Rate; state: RateState }): Refusal {
  const limit = `the ${check.owner}'s limit of ${check.perMinute} ${check.unit} per minute`;
  const code = check.unit === "tokens" ? "token_limit_exceeded" : "rate_limit_exceeded";
  return { code, limit, key: check.key, retryAfterMs: state.retryAfterMs };
}

function describeLease({ check, state }: { check: Lease; state: LeaseState }): Refusal {
  const limit = `the ${check.owner}'s limit of ${check.max} ${check.unit} at a time`;
  return { code: "concurrency_limit_exceeded", limit, key: check.key, retryAfterMs: state.retryAfterMs };
}

/** Names the limit that takes longest to allow the request, because until then the others do not matter. */
function createRefusal(refusals: readonly Refusal[], headers: Record<string, string>): AppError {
  const { code, limit, key, retryAfterMs } = refusals.reduce((one, other) =>
    other.retryAfterMs > one.retryAfterMs ? other : one,
  );
  return new AppError(code, `Too much at once: ${limit} is used up. Retry in ${presentDuration(retryAfterMs)}.`, {
    headers: { ...headers, ...presentRetryHeaders(retryAfterMs) },
    detail: { limit: key },
  });
}
