import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { getPlan, lockAccount, type Plan, updateAccount } from "../accounts/index.ts";
import { renewPlan } from "../ledger/index.ts";
import { chargePlan } from "./charge-plan.ts";
import { findSubscription, putSubscription } from "./plan-subscription-store.ts";

export type PlanDependencies = { database: Database; clock: Clock; ids: IdSource; currency: string };

type Purchase = { accountId: AccountId; planId: string /** As the customer saw it. */; price: Nano };

/** Buys a plan, or renews a canceled one again without a charge. Repeatable: a plan that is the account's own is kept. */
export async function buyPlan(dependencies: PlanDependencies, purchase: Purchase): Promise<void> {
  const { database, clock, ids } = dependencies;
  const { accountId, planId } = purchase;
  await inTransaction(database, async (tx) => {
    // Two purchases at once are one after the other.
    const account = await lockAccount(tx, accountId);
    invariant(account !== null, `${accountId} has a session but no account`);
    const own = await findSubscription(tx, accountId);
    if (own === null && account.planId !== null) {
      const message = "The service's operator manages your plan. Ask them to change it.";
      throw new AppError("invalid_parameter", message, { param: "plan_id" });
    }
    if (own?.planId === planId) {
      if (own.canceledAt !== null) await putSubscription(tx, { ...own, canceledAt: null });
      return;
    }
    const plan = await getSoldPlan(tx, purchase);
    await payFirstPeriod({ ...dependencies, database: tx }, { ...purchase, plan });
    await updateAccount({ database: tx, clock }, accountId, { planId });
    const { id, name: planName, period, quotas } = plan;
    const now = clock.now();
    await renewPlan(tx, { accountId, terms: { planId: id, planName, period, quotas }, now, ids });
    await putSubscription(tx, { accountId, planId, price: purchase.price, boughtAt: now, canceledAt: null });
  });
}

async function getSoldPlan(tx: Database, { planId, price }: Purchase): Promise<Plan> {
  const plan = await getPlan(tx, planId);
  if (!plan.isForSale) throw new AppError("not_found", `There is no plan ${planId} for sale.`, { param: "plan_id" });
  if (plan.price === price) return plan;
  const now = plan.price === null ? "" : ` It costs ${presentMoney(plan.price)} now.`;
  throw new AppError("invalid_parameter", `The plan's price has changed.${now} Reload the page.`, { param: "price" });
}

async function payFirstPeriod(
  { database: tx, clock, ids, currency }: PlanDependencies,
  { accountId, plan, price }: Purchase & { plan: Plan },
): Promise<void> {
  const charge = await chargePlan(tx, { ids, now: clock.now() }, { accountId, plan, price });
  const present = (amount: bigint): string => `${presentMoney(nano(amount))} ${currency}`;
  switch (charge.kind) {
    case "paid":
      return;
    case "frozen":
      throw new AppError("account_suspended", "The account is suspended. Contact the service's operator.");
    case "busy":
      throw new AppError("overloaded", "Calls that have just started may need the balance. Try again in a moment.");
    case "unpaid": {
      const { missing } = charge;
      const message = `The plan costs ${present(price)}. Your available balance is ${present(price - missing)}. Add ${present(missing)} to buy it.`;
      throw new AppError("insufficient_balance", message);
    }
  }
}

/** The plan ends with its period. Repeatable. */
export async function cancelPlan({ database, clock }: PlanDependencies, accountId: AccountId): Promise<void> {
  await inTransaction(database, async (tx) => {
    await lockAccount(tx, accountId);
    const own = await findSubscription(tx, accountId);
    if (own === null) throw new AppError("not_found", "You have not bought a plan.");
    if (own.canceledAt === null) await putSubscription(tx, { ...own, canceledAt: clock.now() });
  });
}
