import type { Clock } from "../../lib/clock.ts";
import type { LimitSet } from "../../lib/limit-set.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Plan } from "./account.ts";
import { findPlan, insertPlan, lockPlan, updatePlanRow } from "./plan-store.ts";
import { requireLimits, requireName } from "./require-valid.ts";

const planIdPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export async function createPlan(
  parts: { database: Database; clock: Clock },
  request: { id: string; name: string; limits: Partial<LimitSet> },
): Promise<Plan> {
  if (!planIdPattern.test(request.id)) {
    const message = "A plan's id has up to 64 small letters, digits, - or _, and begins with a letter or digit.";
    throw new AppError("invalid_parameter", message, { param: "id" });
  }
  requireLimits(request.limits);
  const plan = { ...request, name: requireName(request.name), createdAt: parts.clock.now() };
  if (!(await insertPlan(parts.database, plan))) {
    throw new AppError("invalid_parameter", `There is a plan ${plan.id} already.`, { param: "id" });
  }
  return plan;
}

/** Changes what is given; the accounts of the plan feel it within a second. */
export async function updatePlan(
  parts: { database: Database },
  request: { id: string; name?: string; limits?: Partial<LimitSet> },
): Promise<Plan> {
  return await parts.database.transaction().execute(async (tx) => {
    const plan = requirePlan(await lockPlan(tx, request.id), request.id);
    const limits = request.limits ?? plan.limits;
    requireLimits(limits);
    const changed = { ...plan, name: request.name === undefined ? plan.name : requireName(request.name), limits };
    await updatePlanRow(tx, changed);
    return changed;
  });
}

export async function getPlan(database: Database, id: string): Promise<Plan> {
  return requirePlan(await findPlan(database, id), id);
}

function requirePlan(plan: Plan | null, id: string): Plan {
  if (plan === null) throw new AppError("not_found", `There is no plan ${id}.`, { param: "plan" });
  return plan;
}
