import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { presentMoney } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type Account, getPlan, type Plan, updateAccount } from "../accounts/index.ts";
import { insertNotice } from "../notices/index.ts";
import { chargePlan } from "./charge-plan.ts";
import { endSubscription, findSubscription } from "./plan-subscription-store.ts";

type RenewalDependencies = { database: Database; clock: Clock; ids: IdSource; currency: string };

/**
 * Pays the next period of a plan that the account has bought, or ends the plan. In the transaction that starts the next
 * period, which the caller does for the returned account. A plan that an operator gave costs nothing.
 */
export async function renewSubscription(
  { database: tx, clock, ids, currency }: RenewalDependencies,
  account: Account,
): Promise<Account> {
  const { id: accountId } = account;
  const own = await findSubscription(tx, accountId);
  if (own === null || account.planId !== own.planId) return account;
  const plan = await getPlan(tx, own.planId);
  const now = clock.now();
  if (own.canceledAt === null) {
    const charge = await chargePlan(tx, { ids, now }, { accountId, plan, price: own.price });
    if (charge.kind === "paid") return account;
    // The next run tries again.
    if (charge.kind === "busy")
      throw new AppError("overloaded", "The balance is reserved for calls that have just started.");
    const facts = { plan: plan.name, price: `${presentMoney(own.price)} ${currency}` };
    const id = `${accountId} plan ${plan.id} ${now.toISOString()}`;
    await insertNotice(tx, { id, accountId, kind: "plan_unpaid", facts }, now);
  } else await noteEnd(tx, account, { plan, now });
  await endSubscription(tx, accountId);
  return await updateAccount({ database: tx, clock }, accountId, { planId: null });
}

async function noteEnd(
  tx: Database,
  { id: accountId }: Account,
  { plan, now }: { plan: Plan; now: Date },
): Promise<void> {
  const id = `${accountId} plan ${plan.id} ${now.toISOString()}`;
  await insertNotice(tx, { id, accountId, kind: "plan_ended", facts: { plan: plan.name } }, now);
}
