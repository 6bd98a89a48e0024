import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Plan } from "./account.ts";
import { findPlan, insertPlan, lockPlan, updatePlanRow } from "./plan-store.ts";
import { requireLimits, requireName, requireQuotas } from "./require-valid.ts";

const planIdPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** By default a plan sets limits only. */
const standardTerms = {
  period: "month",
  quotas: { text: 0n, image: 0n, video: 0n },
  weights: null,
  price: null,
  isForSale: false,
} as const satisfies PlanTerms;

type PlanTerms = Pick<Plan, "period" | "quotas" | "weights" | "price" | "isForSale">;

export async function createPlan(
  { database, clock }: { database: Database; clock: Clock },
  request: { id: string; name: string } & Pick<Plan, "limits"> & Partial<PlanTerms>,
): Promise<Plan> {
  if (!planIdPattern.test(request.id)) {
    const message = "A plan's id must be 1 to 64 lowercase letters, digits, - or _, and start with a letter or digit.";
    throw new AppError("invalid_parameter", message, { param: "id" });
  }
  const plan = { ...standardTerms, ...request, name: requireName(request.name), createdAt: clock.now() };
  requireLimits(plan.limits);
  requireQuotas(plan.quotas);
  requireSale(plan);
  if (!(await insertPlan(database, plan))) {
    throw new AppError("invalid_parameter", `Plan ${plan.id} already exists.`, { param: "id" });
  }
  return plan;
}

/** Limits apply to the plan's accounts within a second, quotas from each account's next period. */
export async function updatePlan(
  { database }: { database: Database },
  request: { id: string } & Partial<Pick<Plan, "name" | "limits"> & PlanTerms>,
): Promise<Plan> {
  return await inTransaction(database, async (tx) => {
    const plan = requirePlan(await lockPlan(tx, request.id), request.id);
    const changed = { ...plan, ...request };
    changed.name = requireName(changed.name);
    requireLimits(changed.limits);
    requireQuotas(changed.quotas);
    requireSale(changed);
    await updatePlanRow(tx, changed);
    return changed;
  });
}

function requireSale({ price, isForSale }: PlanTerms): void {
  if (price !== null && price <= 0n) {
    throw new AppError("invalid_parameter", "A plan's price must be above 0.", { param: "price" });
  }
  if (isForSale && price === null) {
    throw new AppError("invalid_parameter", "A plan for sale needs a price.", { param: "price" });
  }
}

export async function getPlan(database: Database, id: string): Promise<Plan> {
  return requirePlan(await findPlan(database, id), id);
}

function requirePlan(plan: Plan | null, id: string): Plan {
  if (plan === null) throw new AppError("not_found", `There is no plan ${id}.`, { param: "plan" });
  return plan;
}
