import { type Nano, nano } from "./money.ts";
import { isCostItem } from "./upstream-cost.ts";

/** The basis of a charge: quantities, and the price when the work began. Reproducible at any time. */
export type Bill = {
  priceId: string;
  items: readonly BillItem[];
  /** The number of units a rate is for: 1000 if prices are per thousand tokens. */
  per: bigint;
  minimum: Nano;
  /** The same work in quota units, for accounts that pay from a quota. */
  quotaUnits: bigint;
};

type BillItem = { name: string; quantity: bigint; rate: Nano };

/** Eight kinds of tokens, some split by tiers, two fees, marks, and costs. Roll-ups sum that many. */
export const billItemsMax = 20;
export const itemPlaces: readonly number[] = Array.from({ length: billItemsMax }, (_, index) => index + 1);

/** A mark: an item without cost. The client disconnected before the end. */
export const hungUpMark: BillItem = { name: "hung_up", quantity: 1n, rate: nano(0n) };

export function isHungUp({ items }: Pick<Bill, "items">): boolean {
  return items.some(({ name }) => name === hungUpMark.name);
}

/** The bill's items without marks, which cost nothing, and without the discount of a quote. */
export function listChargedItems({ items }: Pick<Bill, "items">): readonly BillItem[] {
  return items.filter((item) => !isMark(item) && item.name !== quoteDiscount);
}

/** Marks such as `multiplier:0.8` record what decided the rates. */
function isMark({ name }: BillItem): boolean {
  return name === hungUpMark.name || name.includes(":");
}

/** What decided the rates, by name, such as `multiplier` or `resolution`. Without costs, which only operators see. */
export function listMarks({ items }: Pick<Bill, "items">): Record<string, string> {
  return Object.fromEntries(
    items.flatMap(({ name }) => {
      const colon = name.indexOf(":");
      return colon < 0 || isCostItem(name) ? [] : [[name.slice(0, colon), name.slice(colon + 1)]];
    }),
  );
}

/** The item that reduces a bill to its quote. */
export const quoteDiscount = "quote_discount";

/** Reduces a bill to the most that was quoted. The charge remains the sum of the bill's items. */
export function capBill(bill: Bill, most: Nano | null): Bill {
  if (most === null || computeCharge(bill) <= most) return bill;
  const minimum = bill.minimum < most ? bill.minimum : most;
  const excess = computeCharge({ ...bill, minimum }) - most;
  if (excess === 0n) return { ...bill, minimum };
  // Whole units of the rounded charge, so that the rest rounds as before.
  return { ...bill, minimum, items: [...bill.items, { name: quoteDiscount, quantity: bill.per, rate: nano(-excess) }] };
}

/** How much a quote reduced the charge. */
export function findQuoteDiscount({ items }: Pick<Bill, "items">): Nano {
  return nano(-(items.find(({ name }) => name === quoteDiscount)?.rate ?? 0n));
}

/** Sums quantity × rate, rounds half up once, and applies the minimum. */
export function computeCharge({ items, per, minimum }: Pick<Bill, "items" | "per" | "minimum">): Nano {
  let total = 0n;
  for (const { quantity, rate } of items) total += quantity * rate;
  return roundCharge(total, { per, minimum });
}

/** The amount that cached input tokens save, at least 0. */
export function computeCacheSaving({ items, per, minimum }: Pick<Bill, "items" | "per" | "minimum">): Nano {
  const plain = items.find(({ name }) => name === "input_tokens" || name === "counted_input_tokens");
  if (plain === undefined) return nano(0n);
  const uncached = items.map((item) => (item.name === "cached_input_tokens" ? { ...item, rate: plain.rate } : item));
  const saving = computeCharge({ items: uncached, per, minimum }) - computeCharge({ items, per, minimum });
  return nano(saving > 0n ? saving : 0n);
}

/** Rounds a sum of quantity × rate half up and applies the minimum. */
export function roundCharge(total: bigint, { per, minimum }: Pick<Bill, "per" | "minimum">): Nano {
  const rounded = (2n * total + per) / (2n * per);
  return nano(rounded > minimum ? rounded : minimum);
}
