import { type Factor, noFactor } from "../../lib/factor.ts";
import { type Nano, presentMoney, presentNanoFraction } from "../../lib/money.ts";
import { type QuotaKind, type Quotas, quotaKinds } from "../../lib/plan-terms.ts";
import { findModelWeight, type QuotaWeights } from "../../lib/quota-weights.ts";
import { compileCostSheet } from "./cost-sheet.ts";
import type { Model } from "./model.ts";
import type { Price, TokenAmounts } from "./price.ts";

/** A plan whose quotas are sold at a price. */
export type SoldPlan = { id: string; price: Nano | null; quotas: Quotas; weights: QuotaWeights | null };

type CostedModel = Pick<Model, "id" | "type" | "routes">;
/** What one unit of a quota can cost: a fraction of billionths. */
type UnitCost = { kind: QuotaKind; modelIndex: number; what: string; top: bigint; bottom: bigint };

type QuotaLoss = { modelIndex: number; message: string };

/**
 * Plans whose quotas can cost more than their price, at the costs of the dearest routes. Fees per call and search are
 * left out: they do not grow with tokens.
 */
export function listQuotaLosses(models: readonly CostedModel[], plans: readonly SoldPlan[]): QuotaLoss[] {
  return plans.flatMap((plan) => {
    const { price, quotas } = plan;
    if (price === null) return [];
    const worst = quotaKinds.flatMap((kind) => {
      const units = quotas[kind];
      const dearest = units === 0n ? null : findDearest(models, kind, plan.weights);
      return dearest === null ? [] : [{ ...dearest, cost: (units * dearest.top) / dearest.bottom, units }];
    });
    const total = worst.reduce((sum, { cost }) => sum + cost, 0n);
    const [first] = worst.toSorted((one, other) => (one.cost > other.cost ? -1 : 1));
    if (first === undefined || total <= price) return [];
    const { kind, modelIndex, what, units, cost } = first;
    const remedy =
      kind === "text"
        ? "Raise the plan's price or weights, or lower the quota."
        : "Raise the plan's price, or lower the quota.";
    const message = `The plan ${plan.id} is sold at ${presentMoney(price)}. Its ${kind} quota of ${units} can cost ${presentMoney(cost as Nano)}: ${what}. ${remedy}`;
    return [{ modelIndex, message }];
  });
}

function findDearest(models: readonly CostedModel[], kind: QuotaKind, weights: QuotaWeights | null): UnitCost | null {
  let dearest: UnitCost | null = null;
  for (const [modelIndex, model] of models.entries()) {
    for (const route of model.routes) {
      const sheet = compileCostSheet(model.id, route);
      if (sheet === null) continue;
      const place = `${route.provider} ${route.upstream_model}`;
      for (const { what, top, bottom } of listUnitCosts(model, sheet, { kind, weights })) {
        if (dearest !== null && top * dearest.bottom <= dearest.top * bottom) continue;
        dearest = { kind, modelIndex, what: `${what} of ${model.id} at the route ${place}`, top, bottom };
      }
    }
  }
  return dearest;
}

type Asked = { kind: QuotaKind; weights: QuotaWeights | null };

function listUnitCosts(
  model: CostedModel,
  sheet: Price,
  { kind, weights }: Asked,
): Omit<UnitCost, "kind" | "modelIndex">[] {
  const { amounts } = sheet;
  if (amounts.billingType === "token") return kind === "text" ? listTokenCosts(model.id, sheet, amounts, weights) : [];
  const item = kind === "image" ? "image" : kind === "video" ? "second" : null;
  const isPaid = kind === "image" ? model.type === "image" : model.type === "video" || model.type === "avatar";
  if (item === null || !isPaid) return [];
  return amounts.items
    .filter((one) => one.item === item)
    .map(({ rate }) => ({
      what: `a ${item} for ${presentNanoFraction(rate, amounts.per)}`,
      top: rate,
      bottom: amounts.per,
    }));
}

function listTokenCosts(modelId: string, { terms }: Price, amounts: TokenAmounts, weights: QuotaWeights | null) {
  const model = weights === null ? noFactor : findModelWeight(weights.models, modelId);
  const tiers = [noFactor, ...Object.values(terms.serviceTiers)];
  return [amounts, ...amounts.tiers].flatMap((rates) => {
    const input = [rates.inputPrice, rates.cacheWrite5mPrice, rates.cacheWrite1hPrice, rates.audioInputPrice];
    const costs: [string, (bigint | null)[], Factor][] = [
      ["input", input, noFactor],
      ["cached input", [rates.cachedInputPrice ?? rates.inputPrice], weights?.kinds.cached ?? noFactor],
      ["output", [rates.outputPrice, rates.reasoningPrice, rates.audioOutputPrice], weights?.kinds.output ?? noFactor],
    ];
    return costs.flatMap(([name, list, kind]) =>
      tiers.map((tier) => {
        const rate = list.reduce((most: bigint, one) => (one !== null && one > most ? one : most), 0n) * tier.numerator;
        const per = amounts.per * tier.denominator;
        const cost = presentNanoFraction(rate * 1_000_000n, per);
        return {
          what: `1M tokens of ${name} for ${cost}`,
          top: rate * model.denominator * kind.denominator,
          bottom: per * model.numerator * kind.numerator,
        };
      }),
    );
  });
}
