import type { Nano } from "../../../lib/money.ts";
import type { TopUpRule } from "./top-up-rule.ts";

export type TopUpFacts = {
  now: Date;
  available: Nano;
  /** Suspended, frozen or in debt: credit could not be spent. */
  isBlocked: boolean;
  hasOpenCharge: boolean;
  /** Attempts in the last 24 hours, declined ones included. */
  attempts: number;
  attemptsMax: number;
  /** Charged this month, or possibly charged. */
  chargedThisMonth: Nano;
};

export type TopUpStep = { kind: "charge" } | { kind: "cap-reached" } | { kind: "nothing" };

/** Whether to charge the saved card now. */
export function decideTopUp(rule: TopUpRule, facts: TopUpFacts): TopUpStep {
  const { now, available, isBlocked, hasOpenCharge, attempts, attemptsMax, chargedThisMonth } = facts;
  const isDue = rule.state === "on" && rule.nextAt <= now && available < rule.threshold;
  if (!isDue || isBlocked || hasOpenCharge) return { kind: "nothing" };
  if (attempts >= attemptsMax) return { kind: "nothing" };
  return { kind: chargedThisMonth + rule.amount > rule.monthMax ? "cap-reached" : "charge" };
}
