import { parseFactor } from "../../lib/factor.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import type { CatalogFile, MultiplierLine, PriceLine, ReportProblem } from "./catalog-file.ts";
import { checkTime, explainFactor, explainMissingPlan } from "./check-prices.ts";
import { createPrice, derivePrice, hasStorableRates } from "./compile-price.ts";
import { readPriceTerms } from "./read-price-line.ts";

/** Checks the factors of plans and accounts. */
export function checkMultipliers(
  { models, multipliers = [] }: CatalogFile,
  around: { planIds: ReadonlySet<string>; accountIds: ReadonlySet<string> },
  report: ReportProblem,
): void {
  const seen = new Map<string, number>();
  for (const [index, line] of multipliers.entries()) {
    const path = ["multipliers", index];
    const { plan, account, type, model, factor, effective_at: start, ends_at: end } = line;
    if ((plan === undefined) === (account === undefined)) {
      report(path, "A multiplier applies to a plan or to an account. Name one of them.");
    }
    if (type !== undefined && model !== undefined) {
      report([...path, "type"], "A multiplier applies to a type or to a model, not both. Remove one of them.");
    }
    if (plan !== undefined && !around.planIds.has(plan)) report([...path, "plan"], explainMissingPlan(plan));
    if (account !== undefined && !around.accountIds.has(account)) {
      report([...path, "account"], `There is no account ${account}. List accounts with: account list`);
    }
    if (model !== undefined && !models.some(({ id }) => id === model)) {
      report([...path, "model"], `There is no model ${model} in this file. Add it under models, or correct the name.`);
    }
    if (parseFactor(factor) === null) report([...path, "factor"], explainFactor(factor));
    if (start !== undefined) checkTime(start, [...path, "effective_at"], report);
    if (end !== undefined) checkTime(end, [...path, "ends_at"], report);
    const [from, until] = [start, end].map((time) => (time === undefined ? null : parseTimestamp(time)));
    if (from && until && until <= from) {
      report([...path, "ends_at"], "ends_at must be after effective_at.");
    }
    const scope = JSON.stringify([plan, account, type, model, from]);
    const first = seen.get(scope);
    if (first === undefined) seen.set(scope, index);
    else
      report(
        path,
        `multipliers[${first}] already has this scope and beginning. Remove one, or change its effective_at.`,
      );
  }
}

/** Checks that every price, times its factors, fits into a charge. The file has no other problems. */
export function checkFactoredPrices({ prices, multipliers = [] }: CatalogFile, report: ReportProblem): void {
  for (const [index, line] of prices.entries()) {
    const factors = [null, ...new Set(multipliers.filter((one) => canApply(one, line)).map(({ factor }) => factor))];
    const identity = { id: "", modelId: "", capability: null, planId: null, accountId: null, effectiveAt: new Date(0) };
    const price = createPrice(identity, readPriceTerms(line));
    const isStorable = factors.every((factor) => {
      const multiplier = factor === null ? null : parseFactor(factor);
      const tiers = [null, ...Object.keys(price.terms.serviceTiers)] as (keyof typeof price.terms.serviceTiers)[];
      return tiers.every((serviceTier) =>
        hasStorableRates(derivePrice(price, { multiplier, serviceTier, searches: true })),
      );
    });
    if (isStorable) continue;
    report(
      ["prices", index],
      "With its factors, this price has too many digits to be exact. Lower it, or use factors with fewer places.",
    );
  }
}

function canApply({ model }: MultiplierLine, line: PriceLine): boolean {
  return model === undefined || model === line.model;
}
