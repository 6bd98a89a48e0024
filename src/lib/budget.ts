import type { Nano } from "./money.ts";

export const budgetPeriods = ["total", "day", "week", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** The maximum a key may spend in each period. */
export type Budget = { amount: Nano; period: BudgetPeriod };

/** A budget and the key it is counted under: the first key of the rotation lineage. */
export type KeyBudget = Budget & { keyId: string };

const dayMs = 24 * 60 * 60 * 1000;
const daysOfWeek = 7;

/** The start of the current period: midnight UTC, weeks on Mondays. `total` is one endless period. */
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

/** The start of the next period, when the budget resets; `null` for `total`. */
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
