import { type Nano, nano } from "./money.ts";

/** The basis of a charge: quantities, and the price when the work began. Reproducible at any time. */
export type Bill = {
  priceId: string;
  items: readonly BillItem[];
  /** Each rate is for this many of its quantity: 1000 where a price is for a thousand tokens. */
  per: bigint;
  minimum: Nano;
  /** The same work in the unit of its quota, for accounts that pay with one. */
  quotaUnits: bigint;
};

type BillItem = { name: string; quantity: bigint; rate: Nano };

/** An item without cost: the client disconnected before the end. */
export const hungUpMark: BillItem = { name: "hung_up", quantity: 1n, rate: nano(0n) };

export function isHungUp({ items }: Pick<Bill, "items">): boolean {
  return items.some(isMark);
}

/** What a bill is for, without its marks. */
export function listChargedItems({ items }: Pick<Bill, "items">): readonly BillItem[] {
  return items.filter((item) => !isMark(item));
}

function isMark({ name }: BillItem): boolean {
  return name === hungUpMark.name;
}

/** Quantities times rates, rounded once and half up, but never less than the minimum. */
export function computeCharge({ items, per, minimum }: Pick<Bill, "items" | "per" | "minimum">): Nano {
  let total = 0n;
  for (const { quantity, rate } of items) total += quantity * rate;
  return roundCharge(total, { per, minimum });
}

/** How much more a bill would come to if nothing had been read from a cache; nothing where that is no cheaper. */
export function computeCacheSaving({ items, per, minimum }: Pick<Bill, "items" | "per" | "minimum">): Nano {
  const plain = items.find(({ name }) => name === "input_tokens" || name === "counted_input_tokens");
  if (plain === undefined) return nano(0n);
  const uncached = items.map((item) => (item.name === "cached_input_tokens" ? { ...item, rate: plain.rate } : item));
  const saving = computeCharge({ items: uncached, per, minimum }) - computeCharge({ items, per, minimum });
  return nano(saving > 0n ? saving : 0n);
}

/** A sum of quantities times rates as an amount. */
export function roundCharge(total: bigint, { per, minimum }: Pick<Bill, "per" | "minimum">): Nano {
  const rounded = (2n * total + per) / (2n * per);
  return nano(rounded > minimum ? rounded : minimum);
}
