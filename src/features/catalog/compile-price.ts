import type { Bill } from "../../lib/bill.ts";
import { type Factor, multiplyFactors, noFactor, presentFactor } from "../../lib/factor.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import {
  findHighestRate,
  findItemPer,
  type Price,
  type PriceAmounts,
  type PriceIdentity,
  type PriceItem,
  type PriceTerms,
  type ServiceTier,
  type TokenItem,
  type TokenRates,
  type TokenTier,
  tokenItems,
} from "./price.ts";

/** What a price is compiled for, beside its terms. */
export type PriceUse = {
  /** The factor of the account or its plan. */
  multiplier: Factor | null;
  serviceTier: ServiceTier | null;
  /** Whether the request asks for a web search. */
  searches: boolean;
};

const plainUse: PriceUse = { multiplier: null, serviceTier: null, searches: false };

/** Compiles a price for requests without a service tier, at the list price. */
export function createPrice(identity: PriceIdentity, terms: PriceTerms): Price {
  return compile(identity, terms, plainUse);
}

/** The same price for one account and one kind of request. Compiled once for each use. */
export function derivePrice(price: Price, use: Partial<PriceUse>): Price {
  const { multiplier = price.multiplier, serviceTier = null, searches = false } = use;
  const name = `${multiplier === null ? "" : presentFactor(multiplier)}/${serviceTier ?? ""}/${searches}`;
  const known = derived.get(price) ?? new Map<string, Price>();
  derived.set(price, known);
  const found = known.get(name) ?? compile(price, price.terms, { multiplier, serviceTier, searches });
  known.set(name, found);
  return found;
}

const derived = new WeakMap<Price, Map<string, Price>>();

function compile(identity: PriceIdentity, terms: PriceTerms, { multiplier, serviceTier, searches }: PriceUse): Price {
  const ofTier = serviceTier === null ? undefined : terms.serviceTiers[serviceTier];
  const factor = multiplyFactors(multiplier ?? noFactor, ofTier ?? noFactor);
  const { id, modelId, capability, planId, accountId, effectiveAt } = identity;
  const amounts = compileAmounts(terms, factor, searches);
  const minimumCharge = multiply(terms.minimumCharge, factor);
  return {
    ...{ id, modelId, capability, planId, accountId, effectiveAt, terms, multiplier, factor, amounts, minimumCharge },
    isFree: minimumCharge === 0n && listRates(amounts).every((rate) => rate === 0n),
    marks: [
      ...(multiplier === null ? [] : [createMark("multiplier", presentFactor(multiplier))]),
      ...(ofTier === undefined ? [] : [createMark("service_tier", String(serviceTier))]),
    ],
  };
}

/** An item without cost that records what decided a rate. */
export function createMark(name: string, value: string | number | boolean): Bill["items"][number] {
  return { name: `${name}:${value}`, quantity: 1n, rate: nano(0n) };
}

/** The only amount that a factor rounds, half up. */
function multiply(amount: Nano, { numerator, denominator }: Factor): Nano {
  return nano((2n * amount * numerator + denominator) / (2n * denominator));
}

function compileAmounts(terms: PriceTerms, factor: Factor, searches: boolean): PriceAmounts {
  const { billingType, unit, items, tierScope } = terms;
  const thousands = items.some(({ item }) => findItemPer(item) > 1n) ? 1000n : 1n;
  const per = thousands * factor.denominator;
  const scale = ({ item, rate }: PriceItem): Nano => nano(rate * (thousands / findItemPer(item)) * factor.numerator);
  const scaled = items.map((one) => ({ ...one, rate: scale(one) }));
  if (billingType !== "token") {
    return { billingType, unit, per, price: findHighestRate(scaled, unit), items: scaled };
  }
  const [first, ...tiers] = compileTiers(scaled);
  invariant(first !== undefined, "a price has no rates");
  const { above: _, ...rates } = first;
  const fees = scaled.flatMap(({ item, rate }) => {
    if (item === "call") return [{ name: "calls", quantity: 1n, rate }];
    return item === "search" && searches ? [{ name: "searches", quantity: 1n, rate }] : [];
  });
  return { billingType, per, ...rates, tiers, tierScope, fees };
}

/** Charges store rates as 64-bit integers, and sums must stay far below that. */
export function hasStorableRates({ amounts, minimumCharge }: Price): boolean {
  return [...listRates(amounts), amounts.per, minimumCharge * amounts.per].every((value) => value <= storableMax);
}

const storableMax = 2n ** 63n - 1n;

function listRates(amounts: PriceAmounts): bigint[] {
  if (amounts.billingType !== "token") return amounts.items.map(({ rate }) => rate);
  const tiers = [amounts, ...amounts.tiers].flatMap((rates) =>
    Object.values(tokenItems).map((name) => rates[name] ?? 0n),
  );
  return [...tiers, ...amounts.fees.map(({ rate }) => rate)];
}

/** A tier has the rates of the one below, except for its own. */
function compileTiers(items: readonly PriceItem[]): TokenTier[] {
  const limits = [...new Set(items.map(({ aboveInputTokens = 0 }) => aboveInputTokens))].toSorted((a, b) => a - b);
  return limits.map((above) => ({ above, ...readTokenRates((item) => findRate(items, item, above)) }));
}

function findRate(items: readonly PriceItem[], wanted: TokenItem, above: number): Nano | null {
  const known = items.filter(({ item, aboveInputTokens = 0 }) => item === wanted && aboveInputTokens <= above);
  return (
    known.reduce<PriceItem | null>(
      (best, one) => (best === null || (one.aboveInputTokens ?? 0) > (best.aboveInputTokens ?? 0) ? one : best),
      null,
    )?.rate ?? null
  );
}

function readTokenRates(read: (item: TokenItem) => Nano | null): TokenRates {
  return {
    inputPrice: read("input") ?? nano(0n),
    cachedInputPrice: read("cached_input"),
    cacheWrite5mPrice: read("cache_write_5m"),
    cacheWrite1hPrice: read("cache_write_1h"),
    audioInputPrice: read("input_audio"),
    // An embedding model has no output.
    outputPrice: read("output") ?? nano(0n),
    reasoningPrice: read("reasoning"),
    audioOutputPrice: read("output_audio"),
  };
}
