import type { Caller } from "../../lib/caller.ts";
import type {
  CounterDecision,
  Counters,
  LeaseCheck,
  LeaseState,
  RateCheck,
  RateState,
} from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { type LimitStates, presentDuration, presentLimitHeaders, presentRetryHeaders } from "./limit-headers.ts";

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
 * Takes all that a call demands, from the account's limits and the key's, or nothing. Answers with what it saw of them,
 * which `presentLimitHeaders` tells the caller; throws where a limit does not allow it. `before` is what an earlier part
 * of the same call saw of other limits.
 */
export function consumeLimits(
  counters: Counters,
  caller: LimitedCaller,
  demand: Demand,
  before: LimitStates = nothingSeen,
): Promise<LimitStates> {
  const rates = listRates(caller, demand);
  const leases = demand.slot === undefined ? noLeases : listLeases(caller, demand.slot);
  return counters.take({ rates, leases }).then((decision) => judge({ rates, leases }, decision, before));
}

type Checks = { rates: readonly Rate[]; leases: readonly Lease[] };

function judge({ rates, leases }: Checks, decision: CounterDecision, before: LimitStates): LimitStates {
  const requests: RateState[] = [];
  const tokens: RateState[] = [];
  decision.rates.forEach((state, index) => {
    (rates[index]?.unit === "tokens" ? tokens : requests).push(state);
  });
  const states: LimitStates = {
    requests: requests.length === 0 ? before.requests : requests,
    tokens: tokens.length === 0 ? before.tokens : tokens,
    isDegraded: decision.isDegraded || before.isDegraded,
  };
  if (decision.isAllowed) return states;
  const refusals = [
    ...pair(rates, decision.rates).map(describeRate),
    ...pair(leases, decision.leases).map(describeLease),
  ];
  throw createRefusal(refusals, presentLimitHeaders(states));
}

const noLeases: readonly Lease[] = [];
const nothingSeen: LimitStates = { requests: [], tokens: [], isDegraded: false };

/** Each check with what the counters say of it; they answer in the order of the checks. */
function pair<C, S>(checks: readonly C[], states: readonly S[]): { check: C; state: S }[] {
  return checks.flatMap((check, index) => states.slice(index, index + 1).map((state) => ({ check, state })));
}

/** Tells how many tokens a call really used, beyond those it was counted with, or fewer. */
export async function correctTokens(counters: Counters, caller: LimitedCaller, delta: number): Promise<void> {
  for (const { key, perMinute } of getLimits(caller).ratesOfTokens) await counters.correct({ key, perMinute, delta });
}

/** Gives a place back. Once is enough, and more does no harm. */
export async function returnSlot(counters: Counters, caller: LimitedCaller, slot: Slot): Promise<void> {
  await counters.release(listLeases(caller, slot));
}

type Owner = {
  owner: "account" | "API key";
  limits: Partial<LimitedCaller["accountLimits"]>;
  /** What its counts are called. */
  keys: Record<"requests" | "reads" | "tokens" | "running-requests" | "running-tasks", string>;
};

type KnownLimits = {
  owners: readonly Owner[];
  /** What every request of a kind is checked for before more is known of it. */
  ratesOfRequests: Record<"read" | "write", readonly Rate[]>;
  ratesOfTokens: readonly Rate[];
};

const limitsOfCallers = new WeakMap<LimitedCaller, KnownLimits>();

/** A caller is the same object as long as it is remembered, and so are its limits and the names of its counts. */
function getLimits(caller: LimitedCaller): KnownLimits {
  const known = limitsOfCallers.get(caller);
  if (known !== undefined) return known;
  const { accountId, keyId, accountLimits, keyLimits } = caller;
  // All names of a request share the account's hash tag, so that a cluster keeps them in one place.
  const owners: Owner[] = [{ owner: "account", limits: accountLimits, keys: nameCounts(`{${accountId}}`) }];
  if (Object.keys(keyLimits).length > 0) {
    owners.push({ owner: "API key", limits: keyLimits, keys: nameCounts(`{${accountId}}:${keyId}`) });
  }
  const ratesOfRequests = {
    read: buildRates(owners, { request: "read" }),
    write: buildRates(owners, { request: "write" }),
  };
  const limits = { owners, ratesOfRequests, ratesOfTokens: buildRates(owners, {}) };
  limitsOfCallers.set(caller, limits);
  return limits;
}

function nameCounts(prefix: string): Owner["keys"] {
  return {
    requests: `${prefix}:requests`,
    reads: `${prefix}:reads`,
    tokens: `${prefix}:tokens`,
    "running-requests": `${prefix}:running-requests`,
    "running-tasks": `${prefix}:running-tasks`,
  };
}

function listRates(caller: LimitedCaller, demand: Demand): readonly Rate[] {
  const { owners, ratesOfRequests } = getLimits(caller);
  if (demand.request !== undefined && demand.tokens === undefined) return ratesOfRequests[demand.request];
  return buildRates(owners, demand);
}

/** Tokens are looked at with every request, so that the headers can tell of them. */
function buildRates(owners: readonly Owner[], demand: Demand): Rate[] {
  const rates: Rate[] = [];
  for (const { owner, limits, keys } of owners) {
    const { requestsPerMinute, tokensPerMinute } = limits;
    if (requestsPerMinute !== undefined && demand.request !== undefined) {
      const isRead = demand.request === "read";
      const unit = isRead ? "reads" : "requests";
      const perMinute = isRead ? requestsPerMinute * readsPerWrite : requestsPerMinute;
      rates.push({ owner, unit, key: keys[unit], perMinute, cost: 1 });
    }
    if (tokensPerMinute !== undefined) {
      rates.push({ owner, unit: "tokens", key: keys.tokens, perMinute: tokensPerMinute, cost: demand.tokens ?? 0 });
    }
  }
  return rates;
}

function listLeases(caller: LimitedCaller, { use, id, ttlMs }: Slot): Lease[] {
  const leases: Lease[] = [];
  for (const { owner, limits, keys } of getLimits(caller).owners) {
    const isRequest = use === "request";
    const max = isRequest ? limits.concurrentRequests : limits.tasksInFlight;
    if (max === undefined) continue;
    const key = keys[isRequest ? "running-requests" : "running-tasks"];
    leases.push({ owner, unit: isRequest ? "requests" : "tasks", key, max, leaseId: id, ttlMs });
  }
  return leases;
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
