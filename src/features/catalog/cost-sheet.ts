import { type Nano, nano } from "../../lib/money.ts";
import type { UpstreamCost } from "../../lib/upstream-cost.ts";
import type { CostSheetLine, PriceLine } from "./catalog-file.ts";
import { createPrice } from "./compile-price.ts";
import type { Route } from "./model.ts";
import { type BillingType, billingTypes, type Price, type Unit, unitsByBillingType } from "./price.ts";
import { readPriceTerms, readUnit } from "./read-price-line.ts";

/** The billing type of a sheet, which only states its unit; `null` for an unknown unit. */
export function findBillingType(writtenUnit: string): BillingType | null {
  const unit = readUnit(writtenUnit);
  return billingTypes.find((type) => (unitsByBillingType[type] as readonly Unit[]).includes(unit)) ?? null;
}

/** A sheet as the price of its model. */
export function toPriceLine(sheet: CostSheetLine, modelId: string): PriceLine {
  return { ...sheet, model: modelId, billing_type: findBillingType(sheet.unit) ?? "per_call" };
}

/** Compiles the cost sheet of a route as a price; `null` without one. */
export function compileCostSheet(modelId: string, { cost_sheet: sheet }: Route): Price | null {
  if (sheet === undefined) return null;
  // `checkCatalog` has checked it against the schema.
  const terms = readPriceTerms(toPriceLine(sheet as CostSheetLine, modelId));
  const everybody = { capability: null, planId: null, accountId: null, effectiveAt: new Date(0) };
  return createPrice({ id: "cost", modelId, ...everybody }, terms);
}

/** A billion. */
const costMax = 1_000_000_000_000_000_000n;

/** The part of a target that decides its cost. */
type CostedTarget = {
  providerId: string;
  upstreamModel: string;
  route: Pick<Route, "reports_cost">;
  costSheet?: Price;
};

/**
 * What an attempt cost: as the vendor reported it, else as the cost sheet computes it. `null` if neither is known.
 * `reportedNano` is in US dollars; `checkCatalog` allows it only in catalogs of that currency.
 */
export function decideCost(
  { providerId, upstreamModel, route, costSheet }: CostedTarget,
  { reportedNano = null, compute }: { reportedNano?: number | null; compute(sheet: Price): Nano },
): UpstreamCost | null {
  const reported = route.reports_cost === true && reportedNano !== null ? nano(BigInt(reportedNano)) : null;
  const computed = costSheet === undefined ? null : compute(costSheet);
  const amount = reported ?? computed;
  // An absurd sheet must not make a charge that the ledger rejects.
  if (amount === null || amount > costMax || (computed ?? 0n) > costMax) return null;
  return { providerId, upstreamModel, amount, computed: reported === null ? null : computed };
}
