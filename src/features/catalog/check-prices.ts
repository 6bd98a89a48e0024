import { parseFactor } from "../../lib/factor.ts";
import { parseMoney } from "../../lib/money.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import type { CatalogFile, ModelEntry, PriceLine, ReportProblem } from "./catalog-file.ts";
import { checkPriceItems, isAmount } from "./check-price-items.ts";
import { findBillingType, toPriceLine } from "./cost-sheet.ts";
import type { ModelType } from "./model.ts";
import {
  amountNames,
  findCountedItem,
  ownPriceNames,
  unitsByBillingType,
  unitsByType,
  unitsOfMillions,
} from "./price.ts";
import { isPerMillion, readUnit } from "./read-price-line.ts";

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
    const unit = readUnit(line.unit);
    const units: readonly string[] = model === undefined ? [] : unitsByType[model.type];
    const isUnit = (unitsByBillingType[line.billing_type] as readonly string[]).includes(unit);
    if (model !== undefined && isUnit && !units.includes(unit)) {
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
    const isSound = checkAmounts(line, path, { type: model?.type, report });
    if (isSound && model !== undefined && isUnit && units.includes(unit))
      checkPriceItems(line, model, { path, report });
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

/** Checks the cost sheets of a model's routes by the rules of its prices. */
export function checkCostSheets(
  model: ModelEntry,
  path: readonly (string | number)[],
  { currency, report }: { currency: string; report: ReportProblem },
): void {
  for (const [index, { cost_sheet: sheet, reports_cost: isReported, capability }] of (model.routes ?? []).entries()) {
    const place = [...path, "routes", index];
    if (isReported === true && currency !== "USD") {
      const message = `Vendors report costs in USD, and the catalog is in ${currency}. Use cost_sheet instead.`;
      report([...place, "reports_cost"], message);
    }
    if (isReported === true && model.type !== "chat") {
      report([...place, "reports_cost"], "Only costs of chat calls are read from responses. Use cost_sheet instead.");
    }
    if (sheet === undefined) continue;
    const sheetPath = [...place, "cost_sheet"];
    const units: readonly string[] = unitsByType[model.type];
    if (findBillingType(sheet.unit) === null || !units.includes(readUnit(sheet.unit))) {
      report(
        [...sheetPath, "unit"],
        `${model.type} models can't be priced by ${sheet.unit}. Use: ${units.join(", ")}.`,
      );
      continue;
    }
    const line = { ...toPriceLine(sheet, model.id), ...(capability === undefined ? {} : { capability }) };
    if (checkAmounts(line, sheetPath, { type: model.type, report })) {
      checkPriceItems(line, model, { path: sheetPath, report });
    }
  }
}

/** Whether every field is possible and every amount valid. */
function checkAmounts(
  line: PriceLine,
  path: readonly (string | number)[],
  { type, report }: { type: ModelType | undefined; report: ReportProblem },
): boolean {
  let isSound = true;
  const refuse: ReportProblem = (place, message) => {
    isSound = false;
    report(place, message);
  };
  const units: readonly string[] = unitsByBillingType[line.billing_type];
  if (!units.includes(readUnit(line.unit))) {
    const others = Object.entries(unitsOfMillions).flatMap(([name, unit]) => (units.includes(unit) ? [name] : []));
    refuse(
      [...path, "unit"],
      `billing_type ${line.billing_type} does not have the unit ${line.unit}. Use: ${[...units, ...others].join(", ")}.`,
    );
  }
  const isToken = line.billing_type === "token";
  const foreign = isToken ? (["price"] as const) : (["input_price", "output_price", ...ownPriceNames] as const);
  if (type === "embedding" && parseMoney(line.output_price ?? "0") !== 0n) {
    refuse([...path, "output_price"], "An embedding model has no output tokens. Remove output_price.");
  }
  for (const name of foreign) {
    if (line[name] === undefined) continue;
    refuse([...path, name], `A price with billing_type ${line.billing_type} can't have ${name}. Remove it.`);
  }
  const counted = findCountedItem(readUnit(line.unit));
  const amounts = [
    ...amountNames.map((name) => ({
      place: [name],
      text: line[name],
      item: name === "minimum_charge" ? null : counted,
    })),
    ...(line.items ?? []).map(({ price, item = counted }, index) => ({
      place: ["items", index, "price"],
      text: price,
      item,
    })),
  ];
  for (const { place, text, item } of amounts) {
    if (text === undefined) continue;
    const isMillion = item !== null && isPerMillion(item, line.unit);
    if (isAmount(text, { isPerMillion: isMillion })) continue;
    refuse(
      [...path, ...place],
      `"${text}" is not a price. Write a decimal of 0 or more with at most ${isMillion ? "six places" : "nine places"}, such as "0.15".`,
    );
  }
  for (const [name, text] of Object.entries(line.service_tiers ?? {})) {
    if (parseFactor(text) === null) refuse([...path, "service_tiers", name], explainFactor(text));
  }
  return isSound;
}

export function explainFactor(text: string): string {
  return `"${text}" is not a factor. Write a decimal below 1000 with at most four places, such as "0.85".`;
}

export function checkTime(time: string, path: readonly (string | number)[], report: ReportProblem): void {
  if (parseTimestamp(time) !== null) return;
  report(path, `"${time}" is not a time. Write it with its offset, such as 2026-11-01T00:00:00Z.`);
}

export function explainMissingPlan(plan: string): string {
  return `There is no plan ${plan}. Create it first: plan create ${plan}`;
}
