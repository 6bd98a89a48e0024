import { invariant } from "../../lib/invariant.ts";
import type { RateCheck, RateState } from "./counters.ts";

/**
 * The generic cell rate algorithm. Each unit is worth its share of a minute; what is taken makes a backlog of such time,
 * which passing time works off, and a take passes while the backlog stays within one minute. As the state is time and
 * not a count, a limit that changes simply goes on from there.
 *
 * The theoretical arrival time of the textbook is `atUs + backlogUs`. Kept apart, the backlog is a small number whose
 * sums stay exact, and a clock that is set back finds the backlog as it was instead of one that is hours long.
 */
export type RateMark = { backlogUs: number; atUs: number };

const minuteUs = 60_000_000;

/**
 * A unit is worth a multiple of this fraction of a microsecond, so that sums of units are exact up to a day of backlog.
 * What is cut off makes a limit of ten million a minute 3 millionths faster, and smaller ones by less.
 */
const stepsPerUs = 2 ** 16;

/** What a check means in time. */
export type RatePrice = {
  /** What fits when nothing is used: the limit's worth, which is one minute. */
  capacityUs: number;
  /** What must fit for the check to pass: never more than fits at all, so that even a huge cost passes once. */
  neededUs: number;
  /** What is added when it passes: the whole cost, also where that leaves a debt. */
  chargedUs: number;
};

type Priced = Pick<RateCheck, "perMinute" | "cost">;

export function priceRate(check: Priced): RatePrice {
  const { perMinute } = check;
  return { capacityUs: perMinute * priceUnit(perMinute), neededUs: priceNeed(check), chargedUs: priceCharge(check) };
}

export function priceCharge({ perMinute, cost }: Priced): number {
  invariant(isCount(perMinute) && isCount(cost), "a limit and a cost are counts");
  return cost * priceUnit(perMinute);
}

/** Where the limit is 0 nothing ever fits; the single unit makes the wait for it a minute. */
function priceNeed({ perMinute, cost }: Priced): number {
  return Math.min(cost, perMinute > 0 ? perMinute : 1) * priceUnit(perMinute);
}

/** What a correction adds to the backlog, or takes from it. */
export function priceDelta({ perMinute, delta }: { perMinute: number; delta: number }): number {
  invariant(isCount(perMinute) && Number.isFinite(delta), "a limit is a count, and a correction a difference of two");
  return delta * priceUnit(perMinute);
}

function isCount(value: number): boolean {
  return value >= 0 && Number.isFinite(value);
}

/** Rounded down, so that a whole limit's worth fits into the minute. */
function priceUnit(perMinute: number): number {
  if (perMinute <= 0) return minuteUs;
  return Math.max(1, Math.floor((minuteUs / perMinute) * stepsPerUs)) / stepsPerUs;
}

/** The backlog that is left now. Time that runs backwards works nothing off. */
export function drainBacklog(mark: RateMark, nowUs: number): number {
  return Math.max(0, mark.backlogUs - Math.max(0, nowUs - mark.atUs));
}

export function hasRoom(check: Priced, backlogUs: number): boolean {
  return findMissing(check, backlogUs) <= 0;
}

/** How much too little fits. All in plain numbers: an object with a price in it, for each look, would be felt. */
function findMissing(check: Priced, backlogUs: number): number {
  if (priceCharge(check) === 0) return 0;
  return backlogUs + priceNeed(check) - check.perMinute * priceUnit(check.perMinute);
}

/** `backlogUs` is what the decision found; `isTaken` whether it then added the check's own cost. */
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
