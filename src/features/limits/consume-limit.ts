import type { Caller } from "../../lib/caller.ts";
import type { LimitSet } from "../../lib/limit-set.ts";
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
import {
  chooseTighter,
  nothingSeen,
  presentDuration,
  presentLimitHeaders,
  presentRetryHeaders,
} from "../../platform/http/limit-headers.ts";
import type { SeenLimits } from "../../platform/http/request-context.ts";

type LimitedCaller = Pick<Caller, "accountId" | "lineageId" | "accountLimits" | "keyLimits">;

/** A place among the caller's running calls or tasks, held until it is returned or `ttlMs` has passed. */
export type Slot = { use: "request" | "task"; id: string; ttlMs: number };

/** A place among the key's open event streams. */
export type StreamSlot = { id: string; ttlMs: number; max: number };

export type Demand = {
  /** Counts one request. Reads have their own limit. */
  request?: "read" | "write";
  /** The estimate; `correctTokens` adjusts it to the actual usage. */
  tokens?: number;
  slot?: Slot;
};

/** A caller's limit with the default cost of a request. */
type RateLimit = RateCheck & { owner: "account" | "API key"; unit: "requests" | "reads" | "tokens" };
type PlaceLimit = { key: string; max: number; owner: "account" | "API key"; unit: PlaceUnit };
type PlaceUnit = "requests" | "tasks" | "event streams";
type Refusal = { code: ErrorCode; limit: string; key: string; retryAfterMs: number };

/** Reads are cheap, and clients poll for their tasks. */
const readsPerWrite = 5;

/**
 * Takes the whole demand from the account's and the key's limits, or nothing and throws. Returns the limits' state for
 * `presentLimitHeaders`; `before` is the state that an earlier step of the same call returned.
 */
export async function consumeLimits(
  counters: Counters,
  caller: LimitedCaller,
  demand: Demand,
  before: SeenLimits = nothingSeen,
): Promise<SeenLimits> {
  const limits = getLimits(caller);
  const rates = demand.request === undefined ? limits.tokens : limits.requests[demand.request];
  const places = demand.slot === undefined ? noPlaces : limits.places[demand.slot.use];
  const checks = { rates: listRates(rates, demand.tokens), leases: listLeases(places, demand.slot) };
  return judge({ rates, places }, await counters.take(checks), before);
}

/** The state of a caller's limits, without consuming any. */
export async function readLimits(
  counters: Counters,
  caller: LimitedCaller,
  request: "read" | "write",
): Promise<SeenLimits> {
  const rates = getLimits(caller).requests[request];
  const decision = await counters.take({ rates: rates.map((limit) => ({ ...limit, cost: 0 })), leases: noLeases });
  return summarise(rates, decision, nothingSeen);
}

type Asked = { rates: readonly RateLimit[]; places: readonly PlaceLimit[] };

function judge({ rates, places }: Asked, decision: CounterDecision, before: SeenLimits): SeenLimits {
  const states = summarise(rates, decision, before);
  if (decision.isAllowed) return states;
  const refusals = [
    ...pair(rates, decision.rates).map(describeRate),
    ...pair(places, decision.leases).map(describePlace),
  ];
  throw createRefusal(refusals, states);
}

/** The tightest limit of each kind; for kinds that were not checked, the state from `before`. */
function summarise(rates: readonly RateLimit[], decision: CounterDecision, before: SeenLimits): SeenLimits {
  let requests: RateState | null = null;
  let tokens: RateState | null = null;
  let tightestRequests: RateState | null = null;
  let tightestTokens: RateState | null = null;
  let places: LeaseState | null = null;
  let index = 0;
  for (const state of decision.rates) {
    if (rates[index]?.unit === "tokens") {
      tokens = chooseFewer(tokens, state);
      tightestTokens = chooseTighter(tightestTokens, state);
    } else {
      requests = chooseFewer(requests, state);
      tightestRequests = chooseTighter(tightestRequests, state);
    }
    index += 1;
  }
  for (const state of decision.leases) places = chooseTighter(places, state);
  return {
    requests: requests ?? before.requests,
    tokens: tokens ?? before.tokens,
    tightestRequests: tightestRequests ?? before.tightestRequests,
    tightestTokens: tightestTokens ?? before.tightestTokens,
    places: places ?? before.places,
    isDegraded: decision.isDegraded || before.isDegraded,
  };
}

/** On a tie, the first. */
function chooseFewer(one: RateState | null, other: RateState): RateState {
  return one === null || other.remaining < one.remaining ? other : one;
}

/** Pairs each limit with its state: the counters return states in the order of the checks. */
function pair<L, S>(limits: readonly L[], states: readonly S[]): { limit: L; state: S }[] {
  return limits.flatMap((limit, index) => states.slice(index, index + 1).map((state) => ({ limit, state })));
}

/** Corrects the estimate to the tokens that a call used: `delta` is usage minus estimate. */
export function correctTokens(counters: Counters, caller: LimitedCaller, delta: number): Promise<unknown> {
  const { tokens } = getLimits(caller);
  const corrections = tokens.map(({ key, perMinute }) => counters.correct({ key, perMinute, delta }));
  // Most callers have one limit, and `Promise.all` takes 500 bytes.
  const [only] = corrections;
  return corrections.length === 1 && only !== undefined ? only : Promise.all(corrections);
}

/** Idempotent. */
export function returnSlot(counters: Counters, caller: LimitedCaller, { use, id }: Slot): Promise<void> {
  return counters.release(getLimits(caller).places[use].map(({ key }) => ({ key, leaseId: id })));
}

/** Throws if the key has its maximum of event streams open. */
export async function takeStreamSlot(counters: Counters, caller: LimitedCaller, slot: StreamSlot): Promise<void> {
  const places: PlaceLimit[] = [{ ...nameStreams(caller), max: slot.max }];
  const { id, ttlMs } = slot;
  const leases = places.map(({ key, max, unit }) => ({ key, max, leaseId: id, ttlMs, work: unit }));
  judge({ rates: [], places }, await counters.take({ rates: [], leases }), nothingSeen);
}

export async function renewStreamSlot(
  counters: Counters,
  caller: LimitedCaller,
  { id, ttlMs }: Omit<StreamSlot, "max">,
): Promise<void> {
  await counters.renew({ key: nameStreams(caller).key, leaseId: id, ttlMs });
}

export async function returnStreamSlot(counters: Counters, caller: LimitedCaller, id: string): Promise<void> {
  await counters.release([{ key: nameStreams(caller).key, leaseId: id }]);
}

function nameStreams({ accountId, lineageId }: LimitedCaller): Omit<PlaceLimit, "max"> {
  return { owner: "API key", unit: "event streams", key: `{${accountId}}:${lineageId}:streams` };
}

type KnownLimits = {
  /** Checked when a request arrives. Includes token limits at cost 0, for the headers. */
  requests: Record<"read" | "write", readonly RateLimit[]>;
  tokens: readonly RateLimit[];
  places: Record<Slot["use"], readonly PlaceLimit[]>;
};

const limitsOfCallers = new WeakMap<LimitedCaller, KnownLimits>();

/** Cached by identity: the caller directory returns the same object while a key is cached. */
function getLimits(caller: LimitedCaller): KnownLimits {
  const known = limitsOfCallers.get(caller);
  if (known !== undefined) return known;
  const limits = describeLimits(caller);
  limitsOfCallers.set(caller, limits);
  return limits;
}

type Owner = { owner: "account" | "API key"; limits: Partial<LimitSet>; prefix: string };

function describeLimits({ accountId, lineageId, accountLimits, keyLimits }: LimitedCaller): KnownLimits {
  // All counter names of a request share the account's hash tag, so Redis Cluster keeps them in one slot.
  const owners: Owner[] = [
    { owner: "account", limits: accountLimits, prefix: `{${accountId}}` },
    { owner: "API key", limits: keyLimits, prefix: `{${accountId}}:${lineageId}` },
  ];
  return {
    requests: { read: describeRates(owners, "reads"), write: describeRates(owners, "requests") },
    tokens: describeRates(owners, null),
    places: { request: describePlaces(owners, "requests"), task: describePlaces(owners, "tasks") },
  };
}

function describeRates(owners: readonly Owner[], unit: "requests" | "reads" | null): RateLimit[] {
  const rates: RateLimit[] = [];
  for (const { owner, limits, prefix } of owners) {
    const { requestsPerMinute, tokensPerMinute } = limits;
    if (requestsPerMinute !== undefined && unit !== null) {
      const perMinute = unit === "reads" ? requestsPerMinute * readsPerWrite : requestsPerMinute;
      rates.push({ owner, unit, key: `${prefix}:${unit}`, perMinute, cost: 1 });
    }
    if (tokensPerMinute !== undefined) {
      rates.push({ owner, unit: "tokens", key: `${prefix}:tokens`, perMinute: tokensPerMinute, cost: 0 });
    }
  }
  return rates;
}

function describePlaces(owners: readonly Owner[], unit: "requests" | "tasks"): PlaceLimit[] {
  const places: PlaceLimit[] = [];
  for (const { owner, limits, prefix } of owners) {
    const max = unit === "requests" ? limits.concurrentRequests : limits.tasksInFlight;
    if (max !== undefined) places.push({ owner, unit, key: `${prefix}:running-${unit}`, max });
  }
  return places;
}

const noPlaces: readonly PlaceLimit[] = [];
const noLeases: readonly LeaseCheck[] = [];

function listRates(limits: readonly RateLimit[], tokens: number | undefined): readonly RateCheck[] {
  if (tokens === undefined) return limits;
  return limits.map(({ unit, key, perMinute, cost }) => ({ key, perMinute, cost: unit === "tokens" ? tokens : cost }));
}

function listLeases(limits: readonly PlaceLimit[], slot: Slot | undefined): readonly LeaseCheck[] {
  if (slot === undefined) return noLeases;
  const { id, ttlMs } = slot;
  return limits.map(({ key, max, unit }) => ({ key, max, leaseId: id, ttlMs, work: unit }));
}

function describeRate({ limit, state }: { limit: RateLimit; state: RateState }): Refusal {
  const text = `the ${limit.owner}'s limit of ${limit.perMinute} ${limit.unit} per minute`;
  const code = limit.unit === "tokens" ? "token_limit_exceeded" : "rate_limit_exceeded";
  return { code, limit: text, key: limit.key, retryAfterMs: state.retryAfterMs };
}

function describePlace({ limit, state }: { limit: PlaceLimit; state: LeaseState }): Refusal {
  const text = `the ${limit.owner}'s limit of ${limit.max} ${limit.unit} at a time`;
  return { code: "concurrency_limit_exceeded", limit: text, key: limit.key, retryAfterMs: state.retryAfterMs };
}

/** Names the limit with the longest wait: until then the others don't matter. */
function createRefusal(refusals: readonly Refusal[], states: SeenLimits): AppError {
  const { code, limit, key, retryAfterMs } = refusals.reduce((one, other) =>
    other.retryAfterMs > one.retryAfterMs ? other : one,
  );
  return new AppError(code, `You reached ${limit}. Retry in ${presentDuration(retryAfterMs)}.`, {
    // The request took no place, so the headers count none as returned.
    headers: { ...presentLimitHeaders(states, "going-on"), ...presentRetryHeaders(retryAfterMs) },
    detail: { limit: key },
  });
}
