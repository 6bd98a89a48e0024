import type { Nano } from "../../lib/money.ts";

const nanoPerUnit = 1e9;

/** An amount for display in metrics. Never compute money with it. */
export function toMetricAmount(amount: Nano): number {
  return Number(amount) / nanoPerUnit;
}
