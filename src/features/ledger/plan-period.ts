import type { AccountId } from "../../lib/ids.ts";
import type { PlanPeriodLength } from "../../lib/plan-terms.ts";

/** One period of an account's plan. Its quotas are in their own buckets, which expire with it. */
export type PlanPeriod = {
  id: `per_${string}`;
  accountId: AccountId;
  planId: string;
  planName: string;
  /** When the account joined the plan. All periods are counted from here, so they don't drift. */
  anchoredAt: Date;
  startsAt: Date;
  endsAt: Date;
};

const dayMs = 24 * 60 * 60 * 1000;
const daysOfWeek = 7;

/** The period that contains `now`, counted from the anchor. */
export function findPeriodAround(
  length: PlanPeriodLength,
  anchoredAt: Date,
  now: Date,
): { startsAt: Date; endsAt: Date } {
  let number = estimatePeriodNumber(length, anchoredAt, now);
  while (startOf(length, anchoredAt, number) > now) number -= 1;
  while (startOf(length, anchoredAt, number + 1) <= now) number += 1;
  return { startsAt: startOf(length, anchoredAt, number), endsAt: startOf(length, anchoredAt, number + 1) };
}

function estimatePeriodNumber(length: PlanPeriodLength, anchoredAt: Date, now: Date): number {
  const days = Math.floor((now.getTime() - anchoredAt.getTime()) / dayMs);
  return Math.max(0, Math.floor(days / { day: 1, week: daysOfWeek, month: 31 }[length]));
}

/** Months start on the anchor's day, or on their last day if they are shorter. */
function startOf(length: PlanPeriodLength, anchoredAt: Date, number: number): Date {
  if (length !== "month") {
    return new Date(anchoredAt.getTime() + number * (length === "week" ? daysOfWeek : 1) * dayMs);
  }
  const start = new Date(anchoredAt);
  start.setUTCDate(1);
  start.setUTCMonth(anchoredAt.getUTCMonth() + number);
  const daysOfMonth = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
  start.setUTCDate(Math.min(anchoredAt.getUTCDate(), daysOfMonth));
  return start;
}
