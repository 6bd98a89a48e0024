import type { Nano } from "./money.ts";

export const budgetPeriods = ["total", "day", "week", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** The most that a key may spend in each period. */
export type Budget = { amount: Nano; period: BudgetPeriod };

/** A budget, and the key that what counts against it is told by: the first of the line that the key belongs to. */
export type KeyBudget = Budget & { keyId: string };

const dayMs = 24 * 60 * 60 * 1000;
const daysOfWeek = 7;

/** When the period began that a moment lies in: at midnight UTC, weeks on Mondays. `total` has one period for ever. */
export function findPeriodStart(period: BudgetPeriod, now: Date): Date {
  const midnightMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  switch (period) {
    case "total":
      return new Date(0);
    case "day":
      return new Date(midnightMs);
    case "week":
      return new Date(midnightMs - ((now.getUTCDay() + daysOfWeek - 1) % daysOfWeek) * dayMs);
    case "month":
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  }
}

/** When the next period begins, and the budget is whole again; `null` for `total`. */
export function findPeriodEnd(period: BudgetPeriod, now: Date): Date | null {
  const start = findPeriodStart(period, now);
  switch (period) {
    case "total":
      return null;
    case "day":
      return new Date(start.getTime() + dayMs);
    case "week":
      return new Date(start.getTime() + daysOfWeek * dayMs);
    case "month":
      return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
  }
}
