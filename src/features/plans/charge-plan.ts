import type { Bill } from "../../lib/bill.ts";
import type { AccountId, HoldId, IdSource } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Plan } from "../accounts/index.ts";
import { openHolds, settleHold } from "../ledger/index.ts";

type PlanCharge = { kind: "paid" } | { kind: "unpaid"; missing: Nano } | { kind: "frozen" } | { kind: "busy" };

const holdMs = 60_000;

/** Charges a period of a plan to the balance, or nothing if the balance does not cover it. */
export async function chargePlan(
  tx: Database,
  { ids, now }: { ids: IdSource; now: Date },
  { accountId, plan, price }: { accountId: AccountId; plan: Pick<Plan, "id" | "period">; price: Nano },
): Promise<PlanCharge> {
  const id = ids.next("hold");
  const result = await openHold(tx, { id, accountId, amount: price, cause: plan.id }, now);
  if (result.kind === "contended") return { kind: "busy" };
  if (result.kind === "refused") {
    return result.reason === "account-frozen" ? { kind: "frozen" } : { kind: "unpaid", missing: nano(result.missing) };
  }
  invariant(result.kind === "held", `the hold of a plan returned ${result.kind}`);
  const bill = describePeriod(plan, price);
  const settled = await settleHold(tx, { accountId, holdId: id, bill, overrun: "refuse", budgetAmount: null }, now);
  invariant(settled.kind === "settled", `the charge of a plan returned ${settled.kind}`);
  return { kind: "paid" };
}

type PlanHold = { id: HoldId; accountId: AccountId; amount: Nano; cause: string };

async function openHold(tx: Database, { cause, ...hold }: PlanHold, now: Date) {
  const expiresAt = new Date(now.getTime() + holdMs);
  const wanted = { ...hold, quota: null, budget: null, cause: { kind: "plan", id: cause } as const, expiresAt };
  const [result] = await openHolds(tx, [wanted], now);
  invariant(result !== undefined, "the ledger returned no result");
  return result;
}

function describePeriod({ id, period }: Pick<Plan, "id" | "period">, price: Nano): Bill {
  const items = [
    { name: `plan_${period}s`, quantity: 1n, rate: price },
    { name: `plan:${id}`, quantity: 1n, rate: nano(0n) },
  ];
  return { priceId: `plan:${id}`, items, per: 1n, minimum: nano(0n), quotaUnits: 0n };
}
