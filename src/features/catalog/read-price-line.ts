import { type Factor, parseFactor } from "../../lib/factor.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano, parseMoney } from "../../lib/money.ts";
import type { PriceLine } from "./catalog-file.ts";
import {
  findCountedItem,
  type ItemName,
  isTokenItem,
  type PriceFacts,
  type PriceItem,
  type PriceTerms,
  priceKeys,
  type ServiceTier,
  serviceTiers,
  sortItems,
  type TokenPriceName,
  tokenPriceNames,
  type Unit,
  unitsOfMillions,
} from "./price.ts";

/** The unit of the rates, whatever unit the file writes them in. */
export function readUnit(written: string): Unit {
  return written in unitsOfMillions ? unitsOfMillions[written as keyof typeof unitsOfMillions] : (written as Unit);
}

/** Reads a checked price. The short form becomes items without conditions, after those with conditions. */
export function readPriceTerms(line: PriceLine): PriceTerms {
  const unit = readUnit(line.unit);
  const counted = findCountedItem(unit);
  const items = (line.items ?? []).map((entry): PriceItem => {
    const { item = counted, price, above_input_tokens: aboveInputTokens } = entry;
    return {
      ...{ item, rate: readRate(price, item, line.unit) },
      ...(aboveInputTokens === undefined ? {} : { aboveInputTokens }),
      ...readWhen(entry),
    };
  });
  const add = (item: ItemName, amount: string | undefined): void => {
    if (amount !== undefined) items.push({ item, rate: readRate(amount, item, line.unit) });
  };
  for (const [name, item] of Object.entries(tokenPriceNames) as [TokenPriceName, ItemName][]) add(item, line[name]);
  add(counted, line.price);
  // Only an embedding model has no output price.
  if (line.billing_type === "token" && !items.some(({ item }) => item === "output")) add("output", "0");
  return {
    billingType: line.billing_type,
    unit,
    items: sortItems(items),
    tierScope: line.tier_scope ?? "call",
    serviceTiers: readServiceTiers(line.service_tiers ?? {}),
    minimumCharge: line.minimum_charge === undefined ? nano(0n) : readAmount(line.minimum_charge),
  };
}

/** The conditions of an item, in one order. */
export function readWhen(entry: PriceFacts): { when?: PriceFacts } {
  const when = priceKeys.flatMap((key) => (entry[key] === undefined ? [] : [[key, entry[key]]]));
  return when.length === 0 ? {} : { when: Object.fromEntries(when) };
}

export function readServiceTiers(tiers: Partial<Record<ServiceTier, string>>): PriceTerms["serviceTiers"] {
  return Object.fromEntries(
    serviceTiers.flatMap((name): [ServiceTier, Factor][] => {
      const text = tiers[name];
      const factor = text === undefined ? null : parseFactor(text);
      return factor === null ? [] : [[name, factor]];
    }),
  );
}

/** Of a price per million units, a thousandth is stored. */
function readRate(text: string, item: ItemName, writtenUnit: string): Nano {
  const amount = readAmount(text);
  return isPerMillion(item, writtenUnit) ? nano(amount / 1000n) : amount;
}

/** Only tokens and characters are counted in thousands or millions. */
export function isPerMillion(item: ItemName, writtenUnit: string): boolean {
  return writtenUnit in unitsOfMillions && (item === "character" || isTokenItem(item));
}

function readAmount(text: string): Nano {
  const amount = parseMoney(text);
  invariant(amount !== null, "an unchecked catalog reached the plan");
  return amount;
}
