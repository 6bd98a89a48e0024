import type { Nano } from "../../lib/money.ts";

const nanoPerUnit = 1e9;

/** An amount as a number of the currency, to be looked at: money is never computed with these. */
export function toMetricAmount(amount: Nano): number {
  return Number(amount) / nanoPerUnit;
}
