import { type Factor, parseFactor } from "../../lib/factor.ts";
import { type Nano, presentNanoFraction } from "../../lib/money.ts";
import type { CatalogFile, CatalogProblem, ModelEntry, MultiplierLine, PriceLine } from "./catalog-file.ts";
import { chooseItem } from "./choose-item.ts";
import { createPrice, derivePrice } from "./compile-price.ts";
import { compileCostSheet } from "./cost-sheet.ts";
import {
  findItemPer,
  type ItemName,
  type Price,
  type PriceFacts,
  type ServiceTier,
  type TokenAmounts,
  type TokenRates,
  tokenItems,
} from "./price.ts";
import { readPriceTerms } from "./read-price-line.ts";

/** A rate that is below what the route charges. */
type Loss = { item: ItemName; above: number; price: string; cost: string };

/** Prices below the cost sheet of a route that serves them, with the multipliers that can apply. The file has no problems. */
export function listLosses({ models, prices, multipliers = [] }: CatalogFile): CatalogProblem[] {
  return prices.flatMap((line, index) => {
    const model = models.find(({ id }) => id === line.model);
    if (model === undefined) return [];
    const everybody = { capability: null, planId: null, accountId: null, effectiveAt: new Date(0) };
    const price = createPrice({ id: "", modelId: model.id, ...everybody }, readPriceTerms(line));
    const customers = [null, ...multipliers.filter((one) => canMultiply(one, line, model))];
    return listSheets(model, line).flatMap(({ route, sheet }) => {
      // One warning for each route: the list price's, or else the first multiplier's.
      for (const customer of customers) {
        const loss = findLoss(price, sheet, customer === null ? null : parseFactor(customer.factor));
        if (loss !== null) return [{ path: ["prices", index], message: explainLoss(loss, { route, customer }) }];
      }
      return [];
    });
  });
}

function canMultiply({ plan, type, model: modelId }: MultiplierLine, line: PriceLine, model: ModelEntry): boolean {
  if (line.account !== undefined || (line.plan !== undefined && plan !== undefined)) return false;
  return (type === undefined || type === model.type) && (modelId === undefined || modelId === model.id);
}

function listSheets({ id, routes = [] }: ModelEntry, { capability }: PriceLine): { route: string; sheet: Price }[] {
  return routes.flatMap((route) => {
    const sheet = compileCostSheet(id, { priority: 0, weight: 1, ...route });
    const isOther = capability !== undefined && route.capability !== undefined && route.capability !== capability;
    return sheet === null || isOther ? [] : [{ route: `${route.provider} ${route.upstream_model}`, sheet }];
  });
}

function explainLoss(
  { item, above, price, cost }: Loss,
  { route, customer }: { route: string; customer: MultiplierLine | null },
): string {
  const who =
    customer === null ? "" : `With the multiplier ${customer.factor} of ${customer.plan ?? customer.account}, `;
  const what = `${item}${above === 0 ? "" : ` above ${above} input tokens`}`;
  return `${who}${what} is sold at ${price} and costs ${cost} at the route ${route}. Raise the price, or change the route.`;
}

function findLoss(price: Price, sheet: Price, multiplier: Factor | null): Loss | null {
  const tiers = [...Object.keys(price.terms.serviceTiers), ...Object.keys(sheet.terms.serviceTiers)] as ServiceTier[];
  for (const serviceTier of [null, ...tiers]) {
    const sold = derivePrice(price, { multiplier, serviceTier, searches: true });
    const bought = derivePrice(sheet, { multiplier: null, serviceTier, searches: true });
    const loss = findRateLoss(sold, bought);
    if (loss !== null) return loss;
  }
  return null;
}

function findRateLoss({ amounts: sold }: Price, { amounts: bought }: Price): Loss | null {
  const compare = (item: ItemName, rates: { sold: Nano; bought: Nano; above?: number }): Loss | null => {
    if (rates.sold * bought.per >= rates.bought * sold.per) return null;
    const per = findItemPer(item);
    const price = presentNanoFraction(rates.sold * per, sold.per);
    return { item, above: rates.above ?? 0, price, cost: presentNanoFraction(rates.bought * per, bought.per) };
  };
  if (sold.billingType === "token" && bought.billingType === "token") {
    const limits = [...new Set([0, ...[...sold.tiers, ...bought.tiers].map(({ above }) => above)])];
    for (const above of limits) {
      const [ours, theirs] = [findTier(sold, above), findTier(bought, above)];
      for (const item of Object.keys(tokenItems) as (keyof typeof tokenItems)[]) {
        const loss = compare(item, { sold: readRate(ours, item), bought: readRate(theirs, item), above });
        if (loss !== null) return loss;
      }
    }
    return null;
  }
  // What a different unit costs depends on the request.
  if (sold.billingType === "token" || bought.billingType === "token" || sold.unit !== bought.unit) return null;
  for (const ours of sold.items) {
    for (const theirs of bought.items.filter(({ item }) => item === ours.item)) {
      const facts = joinFacts(ours.when, theirs.when);
      if (facts === null) continue;
      const [asked, charged] = [chooseItem(sold.items, ours.item, facts), chooseItem(bought.items, ours.item, facts)];
      const loss =
        asked === null || charged === null ? null : compare(ours.item, { sold: asked.rate, bought: charged.rate });
      if (loss !== null) return loss;
    }
  }
  return null;
}

function findTier(amounts: TokenAmounts, above: number): TokenRates {
  return amounts.tiers.findLast((tier) => above >= tier.above) ?? amounts;
}

/** Kinds without a rate of their own cost as much as other input or output. */
function readRate(rates: TokenRates, item: keyof typeof tokenItems): Nano {
  const isOutput = item === "output" || item === "reasoning" || item === "output_audio";
  return rates[tokenItems[item]] ?? (isOutput ? rates.outputPrice : rates.inputPrice);
}

/** A request that meets both conditions; `null` if none can. */
function joinFacts(one: PriceFacts = {}, other: PriceFacts = {}): PriceFacts | null {
  const isPossible = (Object.keys(one) as (keyof PriceFacts)[]).every(
    (key) => other[key] === undefined || other[key] === one[key],
  );
  return isPossible ? { ...one, ...other } : null;
}
