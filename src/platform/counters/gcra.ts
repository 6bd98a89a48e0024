import { invariant } from "../../lib/invariant.ts";
import type { RateCheck, RateState } from "./counters.ts";

/**
 * The generic cell rate algorithm. Each unit costs its share of a minute. Taken units add to a backlog of time, which
 * drains as time passes; a take passes while the backlog stays within one minute. The state is a time, not a count, so
 * limits can change without a reset.
 *
 * The textbook's theoretical arrival time is `atUs + backlogUs`. Stored separately, the backlog is a small number with
 * exact sums, and a clock that is set back does not turn it into hours.
 */
export type RateMark = { backlogUs: number; atUs: number };

const minuteUs = 60_000_000;

/**
 * Units are multiples of this fraction of a microsecond, so sums are exact up to a day of backlog. The rounding makes a
 * limit of ten million per minute 3 millionths faster, smaller ones less.
 */
const stepsPerUs = 2 ** 16;

/** A check in units of time. */
export type RatePrice = {
  /** The whole limit: one minute. */
  capacityUs: number;
  /** What must fit for the check to pass, at most the capacity, so that even a huge cost can pass. */
  neededUs: number;
  /** What is added if it passes: the whole cost, even if that leaves a debt. */
  chargedUs: number;
};

type Priced = Pick<RateCheck, "perMinute" | "cost">;

export function priceRate(check: Priced): RatePrice {
  const { perMinute } = check;
  return { capacityUs: perMinute * priceUnit(perMinute), neededUs: priceNeed(check), chargedUs: priceCharge(check) };
}

export function priceCharge({ perMinute, cost }: Priced): number {
  invariant(isCount(perMinute) && isCount(cost), "limit and cost must be finite and not negative");
  return cost * priceUnit(perMinute);
}

/** With a limit of 0 nothing ever fits; the single unit makes the reported wait a minute. */
function priceNeed({ perMinute, cost }: Priced): number {
  return Math.min(cost, perMinute > 0 ? perMinute : 1) * priceUnit(perMinute);
}

export function priceDelta({ perMinute, delta }: { perMinute: number; delta: number }): number {
  invariant(
    isCount(perMinute) && Number.isFinite(delta),
    "limit and correction must be finite, and the limit not negative",
  );
  return delta * priceUnit(perMinute);
}

function isCount(value: number): boolean {
  return value >= 0 && Number.isFinite(value);
}

/** Rounded down, so that the whole limit fits into the minute. */
function priceUnit(perMinute: number): number {
  if (perMinute <= 0) return minuteUs;
  return Math.max(1, Math.floor((minuteUs / perMinute) * stepsPerUs)) / stepsPerUs;
}

/** The remaining backlog. A clock that runs backwards drains nothing. */
export function drainBacklog(mark: RateMark, nowUs: number): number {
  return Math.max(0, mark.backlogUs - Math.max(0, nowUs - mark.atUs));
}

export function hasRoom(check: Priced, backlogUs: number): boolean {
  return findMissing(check, backlogUs) <= 0;
}

/** The missing capacity. No object is allocated: this is the hot path. */
function findMissing(check: Priced, backlogUs: number): number {
  if (priceCharge(check) === 0) return 0;
  return backlogUs + priceNeed(check) - check.perMinute * priceUnit(check.perMinute);
}

/** `backlogUs` is the backlog before the decision; `isTaken` whether the check's cost was added. */
export function presentRate(check: Priced, backlogUs: number, isTaken: boolean): RateState {
  const unitUs = priceUnit(check.perMinute);
  const leftUs = isTaken ? backlogUs + check.cost * unitUs : backlogUs;
  return {
    limit: check.perMinute,
    remaining: Math.max(0, Math.floor((check.perMinute * unitUs - leftUs) / unitUs)),
    resetMs: Math.ceil(leftUs / 1000),
    retryAfterMs: Math.max(0, Math.ceil(findMissing(check, backlogUs) / 1000)),
  };
}
