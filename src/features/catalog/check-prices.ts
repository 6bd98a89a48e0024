import { parseMoney } from "../../lib/money.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import type { CatalogFile, PriceLine, ReportProblem } from "./catalog-file.ts";
import type { ModelType } from "./model.ts";
import { amountNames, ownPriceNames, unitsByBillingType, unitsByType } from "./price.ts";

export function checkPrices(
  { models, prices, currency }: CatalogFile,
  around: { planIds: ReadonlySet<string>; accountIds: ReadonlySet<string> },
  report: ReportProblem,
): void {
  const modelById = new Map(models.map((model) => [model.id, model]));
  const seen = new Map<string, number>();
  for (const [index, line] of prices.entries()) {
    const path = ["prices", index];
    const model = modelById.get(line.model);
    if (model === undefined) {
      report(
        [...path, "model"],
        `There is no model ${line.model} in this file. Add it under models, or correct the name.`,
      );
    } else if (line.capability !== undefined && !model.capabilities.includes(line.capability)) {
      report(
        [...path, "capability"],
        `${line.model} does not have the capability ${line.capability}. Add it to the model, or remove this price.`,
      );
    }
    const units: readonly string[] = model === undefined ? [] : unitsByType[model.type];
    const isUnit = (unitsByBillingType[line.billing_type] as readonly string[]).includes(line.unit);
    if (model !== undefined && isUnit && !units.includes(line.unit)) {
      report([...path, "unit"], `${model.type} models can't be priced by ${line.unit}. Use: ${units.join(", ")}.`);
    }
    if (model?.type === "drama" && line.unit === "second" && line.capability !== "drama_video") {
      report([...path, "unit"], "Only a drama's video is priced by second. Add capability: drama_video.");
    }
    if (line.currency !== undefined && line.currency !== currency) {
      report(
        [...path, "currency"],
        `This price is in ${line.currency}, but the catalog is in ${currency}. Convert it and remove currency.`,
      );
    }
    if (line.plan !== undefined && line.account !== undefined) {
      report([...path, "account"], "A price applies to a plan or to an account, not both. Remove one of them.");
    }
    if (line.plan !== undefined && !around.planIds.has(line.plan)) {
      report([...path, "plan"], explainMissingPlan(line.plan));
    }
    if (line.account !== undefined && !around.accountIds.has(line.account)) {
      report([...path, "account"], `There is no account ${line.account}. List accounts with: account list`);
    }
    if (line.effective_at !== undefined) checkTime(line.effective_at, [...path, "effective_at"], report);
    checkAmounts(line, path, { type: model?.type, report });
    const moment = line.effective_at === undefined ? null : parseTimestamp(line.effective_at);
    const scope = JSON.stringify([line.model, line.capability, line.plan, line.account, moment]);
    const first = seen.get(scope);
    if (first !== undefined) {
      report(
        path,
        `prices[${first}] already sets this price of ${line.model}. Remove one, or change its effective_at.`,
      );
    } else seen.set(scope, index);
  }
}

function checkAmounts(
  line: PriceLine,
  path: readonly (string | number)[],
  { type, report }: { type: ModelType | undefined; report: ReportProblem },
): void {
  const units: readonly string[] = unitsByBillingType[line.billing_type];
  if (!units.includes(line.unit)) {
    report(
      [...path, "unit"],
      `billing_type ${line.billing_type} does not have the unit ${line.unit}. Use: ${units.join(", ")}.`,
    );
  }
  const isToken = line.billing_type === "token";
  // An embedding model has no output tokens.
  const output = type === "embedding" ? [] : (["output_price"] as const);
  const required = isToken ? (["input_price", ...output] as const) : (["price"] as const);
  const foreign = isToken ? (["price"] as const) : (["input_price", "output_price", ...ownPriceNames] as const);
  for (const name of required) {
    if (line[name] === undefined) report(path, `A price with billing_type ${line.billing_type} needs ${name}. Add it.`);
  }
  if (type === "embedding" && parseMoney(line.output_price ?? "0") !== 0n) {
    report([...path, "output_price"], "An embedding model has no output tokens. Remove output_price.");
  }
  for (const name of foreign) {
    if (line[name] === undefined) continue;
    report([...path, name], `A price with billing_type ${line.billing_type} can't have ${name}. Remove it.`);
  }
  for (const name of amountNames) {
    const amount = line[name];
    if (amount === undefined || parseMoney(amount) !== null) continue;
    report(
      [...path, name],
      `"${amount}" is not a price. Write a decimal of 0 or more with at most nine places, such as "0.15".`,
    );
  }
}

export function checkTime(time: string, path: readonly (string | number)[], report: ReportProblem): void {
  if (parseTimestamp(time) !== null) return;
  report(path, `"${time}" is not a time. Write it with its offset, such as 2026-11-01T00:00:00Z.`);
}

export function explainMissingPlan(plan: string): string {
  return `There is no plan ${plan}. Create it first: plan create ${plan}`;
}
