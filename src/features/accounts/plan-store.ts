import { nano } from "../../lib/money.ts";
import type { PlanPeriodLength } from "../../lib/plan-terms.ts";
import { readQuotaWeights, type WrittenWeights, writeQuotaWeights } from "../../lib/quota-weights.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Plan } from "./account.ts";
import { limitColumnNames, toLimitColumns, toLimits } from "./limit-columns.ts";

/** `false` if the id is taken. */
export async function insertPlan(database: Database, plan: Plan): Promise<boolean> {
  const result = await database
    .insertInto("plans")
    .values({ id: plan.id, created_at: plan.createdAt, ...toColumns(plan) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function updatePlanRow(database: Database, plan: Plan): Promise<void> {
  await database.updateTable("plans").set(toColumns(plan)).where("id", "=", plan.id).execute();
}

export async function findPlan(database: Database, id: string): Promise<Plan | null> {
  const row = await selectPlans(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toPlan(row);
}

/** `FOR UPDATE`, so concurrent updates don't overwrite each other. */
export async function lockPlan(tx: Database, id: string): Promise<Plan | null> {
  const row = await selectPlans(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toPlan(row);
}

export async function listPlans(database: Database): Promise<Plan[]> {
  return (await selectPlans(database).orderBy("id").execute()).map(toPlan);
}

function selectPlans(database: Database) {
  return database
    .selectFrom("plans")
    .select([
      ...(["id", "name", "created_at", "period", "quota_text", "quota_image", "quota_video"] as const),
      ...(["quota_weights", "price_nano", "is_for_sale"] as const),
      ...limitColumnNames,
    ]);
}

type PlanRow = Awaited<ReturnType<ReturnType<typeof selectPlans>["executeTakeFirstOrThrow"]>>;

function toPlan(row: PlanRow): Plan {
  return {
    id: row.id,
    name: row.name,
    limits: toLimits(row),
    // The table's check constraint guarantees the period.
    period: row.period as PlanPeriodLength,
    quotas: { text: row.quota_text, image: row.quota_image, video: row.quota_video },
    // This feature wrote them.
    weights: row.quota_weights === null ? null : readQuotaWeights(row.quota_weights as WrittenWeights),
    price: row.price_nano === null ? null : nano(row.price_nano),
    isForSale: row.is_for_sale,
    createdAt: row.created_at,
  };
}

function toColumns({ name, limits, period, quotas, weights, price, isForSale }: Plan) {
  return {
    name,
    period,
    quota_text: quotas.text,
    quota_image: quotas.image,
    quota_video: quotas.video,
    quota_weights: weights === null ? null : JSON.stringify(writeQuotaWeights(weights)),
    price_nano: price,
    is_for_sale: isForSale,
    ...toLimitColumns(limits),
  };
}
