import type { Bill } from "../../lib/bill.ts";
import { createMark } from "./compile-price.ts";
import type { CountedAmounts, ItemName, PriceFacts, PriceItem, PriceKey } from "./price.ts";

/** The first item of this name whose conditions a request meets; `null` if there is none. */
export function chooseItem(items: readonly PriceItem[], name: ItemName, facts: PriceFacts): PriceItem | null {
  return items.find(({ item, when = {} }) => item === name && meets(facts, when)) ?? null;
}

function meets(facts: PriceFacts, when: PriceFacts): boolean {
  return listKeys(when).every((key) => facts[key] === when[key]);
}

/** The options of a request that can decide a rate of this price. */
export function markFacts({ items }: Pick<CountedAmounts, "items">, facts: PriceFacts): Bill["items"] {
  const keys = new Set(items.flatMap(({ when = {} }) => listKeys(when)));
  return [...keys].flatMap((key) => (facts[key] === undefined ? [] : [createMark(key, facts[key])]));
}

function listKeys(facts: PriceFacts): PriceKey[] {
  return Object.keys(facts) as PriceKey[];
}
