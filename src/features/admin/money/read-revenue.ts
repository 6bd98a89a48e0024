import { nano, presentMoney } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";
import { findMonthEnd, splitPeriod } from "../../books/index.ts";
import { sumMargins } from "../../costs/index.ts";

/** What one month of the report may have; more than any catalog has models. */
const linesMax = 1_000_000;

export const revenueSteps = ["day", "month"] as const;
type RevenueStep = (typeof revenueSteps)[number];

export function nameRevenueColumns(by: RevenueStep): string[] {
  return [by === "day" ? "date" : "month", "model", "calls", "revenue"];
}

/** Revenue by model and UTC day or month, as rows of a table. Reads a month at a time. */
export async function* readRevenue(
  database: Database,
  { by, ...period }: { by: RevenueStep; from: Date; to: Date },
): AsyncGenerator<string[][], void> {
  for (const part of splitPeriod(period, findMonthEnd)) {
    const keys = new Set(by === "day" ? (["day", "model"] as const) : (["model"] as const));
    const month = part.from.toISOString().slice(0, 7);
    const lines = await sumMargins(database, { ...part, by: keys, limit: linesMax });
    yield lines
      .filter(({ revenue }) => revenue > 0n)
      .map(({ day, model, calls, revenue }) => [
        ...[day ?? month, model ?? ""],
        ...[String(calls), presentMoney(nano(revenue))],
      ]);
  }
}
