import type { PriceLine } from "../../src/features/catalog/catalog-file.ts";
import { createPrice, derivePrice, type PriceUse } from "../../src/features/catalog/compile-price.ts";
import type { Price, ServiceTier } from "../../src/features/catalog/price.ts";
import { readPriceTerms } from "../../src/features/catalog/read-price-line.ts";
import { parseFactor } from "../../src/lib/factor.ts";
import type { ChatUsage } from "../../src/providers/contract.ts";

/**
 * A second implementation of token prices, from the text of the catalog in exact fractions, and random cases for it. It
 * knows nothing of compiled rates.
 */

export type Random = { below(limit: number): number; isOneIn(count: number): boolean };

/** mulberry32: equal seeds give equal cases. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, isOneIn: (count) => below(count) === 0 };
}

const inputItems = ["input", "cached_input", "cache_write_5m", "cache_write_1h", "input_audio"] as const;
const outputItems = ["output", "reasoning", "output_audio"] as const;
type Item = (typeof inputItems)[number] | (typeof outputItems)[number];

const shortNames = {
  ...{ input: "input_price", cached_input: "cached_input_price", cache_write_5m: "cache_write_5m_price" },
  ...{ cache_write_1h: "cache_write_1h_price", input_audio: "audio_input_price", output: "output_price" },
  ...{ reasoning: "reasoning_price", output_audio: "audio_output_price" },
} as const satisfies Record<Item, keyof PriceLine>;

const limits = [100, 1000, 5000] as const;
const tiers: readonly ServiceTier[] = ["flex", "priority"];

/** A price, for one account and one kind of request. */
export type TokenPricing = {
  line: PriceLine;
  use: { multiplier: string | null; serviceTier: ServiceTier | null; searches: boolean };
};

export type TokenCase = {
  usage: ChatUsage;
  kinds: { hourWrites: boolean; audioInput: boolean; audioOutput: boolean };
  /** Bounds that the request sets. */
  inputMax: number;
  outputMax: number;
};

export function createTokenPricing(random: Random): TokenPricing {
  const line = createTokenLine(random);
  return {
    line,
    use: {
      multiplier: random.isOneIn(2) ? null : writeDecimal(random, { below: 3000, places: random.below(4) + 1 }),
      serviceTier: line.service_tiers === undefined || random.isOneIn(2) ? null : (tiers[random.below(2)] ?? null),
      searches: random.isOneIn(3),
    },
  };
}

export function createTokenCase(random: Random): TokenCase {
  const edge = limits[random.below(limits.length)] ?? 0;
  const inputTokens = random.isOneIn(2) ? edge - 1 + random.below(3) : random.below(8000);
  const outputTokens = random.below(3000);
  const part = (of: number): number => (random.isOneIn(2) ? 0 : random.below(of + 1));
  const cachedInputTokens = part(inputTokens);
  const cacheWriteTokens = part(inputTokens - cachedInputTokens);
  return {
    usage: {
      ...{ inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens },
      cacheWrite1hTokens: part(cacheWriteTokens),
      inputAudioTokens: part(inputTokens),
      reasoningTokens: part(outputTokens),
      outputAudioTokens: part(outputTokens),
    },
    kinds: { hourWrites: random.isOneIn(2), audioInput: random.isOneIn(2), audioOutput: random.isOneIn(2) },
    inputMax: inputTokens + (random.isOneIn(2) ? 0 : random.below(3000)),
    outputMax: outputTokens + (random.isOneIn(2) ? 0 : random.below(3000)),
  };
}

function createTokenLine(random: Random): PriceLine {
  const unit = random.isOneIn(2) ? "1M tokens" : "1K tokens";
  const places = unit === "1M tokens" ? 6 : 9;
  const rate = (): string => writeDecimal(random, { below: 100_000_000, places });
  const scope = random.isOneIn(2) ? "part" : "call";
  const items: NonNullable<PriceLine["items"]> = [];
  const line: PriceLine = { model: "m", billing_type: "token", unit };
  for (const item of [...inputItems, ...outputItems]) {
    if (item !== "input" && item !== "output" && random.isOneIn(2)) continue;
    if (random.isOneIn(2)) line[shortNames[item]] = rate();
    else items.push({ item, price: rate() });
  }
  for (const above of limits) {
    if (random.isOneIn(2)) continue;
    for (const item of scope === "part" ? inputItems : [...inputItems, ...outputItems]) {
      if (random.isOneIn(2)) items.push({ item, price: rate(), above_input_tokens: above });
    }
  }
  if (random.isOneIn(4)) items.push({ item: "call", price: rate() });
  if (random.isOneIn(4)) items.push({ item: "search", price: rate() });
  return {
    ...line,
    ...(items.length === 0 ? {} : { items }),
    ...(scope === "part" ? { tier_scope: scope } : {}),
    ...(random.isOneIn(2) ? {} : { service_tiers: { flex: "0.5", priority: "1.75" } }),
    ...(random.isOneIn(3) ? { minimum_charge: writeDecimal(random, { below: 1_000_000_000, places: 9 }) } : {}),
  };
}

function writeDecimal(random: Random, { below, places }: { below: number; places: number }): string {
  const digits = String(random.below(below)).padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** The price as the gateway compiles it for this call. */
export function compilePricing({ line, use }: TokenPricing): Price {
  const scope = { modelId: "m", capability: null, planId: null, accountId: null, effectiveAt: new Date(0) };
  const price = createPrice({ id: "price_1", ...scope }, readPriceTerms(line));
  const multiplier = use.multiplier === null ? null : parseFactor(use.multiplier);
  return derivePrice(price, { ...use, multiplier } satisfies PriceUse);
}

type Fraction = { top: bigint; bottom: bigint };

/** What the call costs, in billionths. */
export function computeModelCharge({ line, use }: TokenPricing, usage: ChatUsage): bigint {
  const thousands = line.unit === "1M tokens" ? 1_000_000n : 1000n;
  const rates = listRates(line);
  let total: Fraction = { top: 0n, bottom: 1n };
  for (const { item, tokens, above } of placeTokens(line, usage)) {
    const { top, bottom } = findRate(rates, item, above);
    total = add(total, { top: top * BigInt(tokens), bottom: bottom * thousands });
  }
  for (const { item, price } of line.items ?? []) {
    if (item === "call" || (item === "search" && use.searches)) total = add(total, parse(price));
  }
  const factor = multiply(parse(use.multiplier ?? "1"), parse(line.service_tiers?.[use.serviceTier ?? "flex"] ?? "1"));
  const whole = use.serviceTier === null ? parse(use.multiplier ?? "1") : factor;
  const cost = roundNano(multiply(total, whole));
  const minimum = roundNano(multiply(parse(line.minimum_charge ?? "0"), whole));
  return cost > minimum ? cost : minimum;
}

type Rate = { item: string; above: number; rate: Fraction };

const ratesByLine = new WeakMap<PriceLine, Rate[]>();

function listRates(line: PriceLine): Rate[] {
  const rates = ratesByLine.get(line) ?? readRates(line);
  ratesByLine.set(line, rates);
  return rates;
}

function readRates(line: PriceLine): Rate[] {
  const short = Object.entries(shortNames).flatMap(([item, name]) => {
    const text = line[name];
    return text === undefined ? [] : [{ item, above: 0, rate: parse(text) }];
  });
  const listed = (line.items ?? []).map(({ item = "input", price, above_input_tokens: above = 0 }) => ({
    ...{ item, above },
    rate: parse(price),
  }));
  return [...short, ...listed];
}

/** The item's own rate, else that of other input or output: of the highest tier that applies. */
function findRate(rates: readonly Rate[], item: Item, above: number): Fraction {
  const plain = (inputItems as readonly string[]).includes(item) ? "input" : "output";
  const own = (name: string): Rate | undefined =>
    rates.filter((rate) => rate.item === name && rate.above <= above).toSorted((a, b) => b.above - a.above)[0];
  return (own(item) ?? own(plain))?.rate ?? { top: 0n, bottom: 1n };
}

type Placed = { item: Item; tokens: number; above: number };

/** Each token's kind and tier. */
function placeTokens(line: PriceLine, usage: ChatUsage): Placed[] {
  const rates = listRates(line);
  const edges = [0, ...new Set((line.items ?? []).flatMap(({ above_input_tokens: above }) => above ?? []))].toSorted(
    (a, b) => a - b,
  );
  const isPart = line.tier_scope === "part";
  const reached = isPart ? 0 : (edges.findLast((edge) => edge < usage.inputTokens) ?? 0);
  const knows = (item: Item): boolean => rates.some((rate) => rate.item === item && (isPart || rate.above <= reached));
  const plainInput = usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens;
  const heard = knows("input_audio") ? Math.min(usage.inputAudioTokens, plainInput) : 0;
  const thought = knows("reasoning") ? usage.reasoningTokens : 0;
  const spoken = knows("output_audio") ? Math.min(usage.outputAudioTokens, usage.outputTokens - thought) : 0;
  const input: [Item, number][] = [
    ["cached_input", usage.cachedInputTokens],
    ["cache_write_5m", usage.cacheWriteTokens - usage.cacheWrite1hTokens],
    ["cache_write_1h", usage.cacheWrite1hTokens],
    ["input_audio", heard],
    ["input", plainInput - heard],
  ];
  const output: [Item, number][] = [
    ["reasoning", thought],
    ["output_audio", spoken],
    ["output", usage.outputTokens - thought - spoken],
  ];
  const placed: Placed[] = output.map(([item, tokens]) => ({ item, tokens, above: reached }));
  let position = 0;
  for (const [item, tokens] of input) {
    if (!isPart) placed.push({ item, tokens, above: reached });
    else {
      for (const [index, above] of edges.entries()) {
        const from = Math.max(position, above);
        const to = Math.min(position + tokens, edges[index + 1] ?? Number.POSITIVE_INFINITY);
        if (to > from) placed.push({ item, tokens: to - from, above });
      }
    }
    position += tokens;
  }
  return placed;
}

function parse(text: string): Fraction {
  const [whole = "0", fraction = ""] = text.split(".");
  return { top: BigInt(whole + fraction), bottom: 10n ** BigInt(fraction.length) };
}

function add(one: Fraction, other: Fraction): Fraction {
  return { top: one.top * other.bottom + other.top * one.bottom, bottom: one.bottom * other.bottom };
}

function multiply(one: Fraction, other: Fraction): Fraction {
  return { top: one.top * other.top, bottom: one.bottom * other.bottom };
}

/** Rounds an amount of the currency half up to billionths. */
function roundNano({ top, bottom }: Fraction): bigint {
  return (2n * top * 1_000_000_000n + bottom) / (2n * bottom);
}
