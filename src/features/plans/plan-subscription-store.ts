import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

/** The plan that an account has bought. */
type PlanSubscription = {
  accountId: AccountId;
  planId: string;
  /** The agreed price of a period. */
  price: Nano;
  boughtAt: Date;
  /** Set if it ends with its period. */
  canceledAt: Date | null;
};

export async function findSubscription(database: Database, accountId: AccountId): Promise<PlanSubscription | null> {
  const row = await database
    .selectFrom("plan_subscriptions")
    .selectAll()
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { plan_id: planId, price_nano: price, bought_at: boughtAt, canceled_at: canceledAt } = row;
  return { accountId, planId, price: nano(price), boughtAt, canceledAt };
}

/** One per account. The caller has locked the account. */
export async function putSubscription(tx: Database, subscription: PlanSubscription): Promise<void> {
  const columns = {
    plan_id: subscription.planId,
    price_nano: subscription.price,
    bought_at: subscription.boughtAt,
    canceled_at: subscription.canceledAt,
  };
  await tx
    .insertInto("plan_subscriptions")
    .values({ account_id: subscription.accountId, ...columns })
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(columns))
    .execute();
}

/** Also called when an operator changes the plan: then it is no longer the customer's own. */
export async function endSubscription(tx: Database, accountId: AccountId): Promise<void> {
  await tx.deleteFrom("plan_subscriptions").where("account_id", "=", accountId).execute();
}
