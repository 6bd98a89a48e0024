import { computeCharge, quoteDiscount } from "../../lib/bill.ts";
import { type Nano, nano } from "../../lib/money.ts";
import { isCostItem, readCosts } from "../../lib/upstream-cost.ts";
import { derivePrice, type Price, type PriceItem, serviceTiers } from "../catalog/index.ts";
import { createUsage, priceUsage } from "../chat/index.ts";

/** Computes what a charge with these quantities would be at a price; `null` if its stored usage does not say. */
type Rebill = (quantities: readonly bigint[]) => Nano | null;

export type Rebiller = { rebill: Rebill; sumCost(quantities: readonly bigint[]): bigint };

const unknown: Rebill = () => null;

/** Prepares a price for all charges with the same items. */
export function createRebiller(names: readonly string[], price: Price | null): Rebiller {
  const costs = names.map((name, index) => (readCosts([{ name, quantity: 0n }]).length > 0 ? index : -1));
  return {
    rebill: price === null ? unknown : prepare(names, price),
    sumCost: (quantities) => costs.reduce((sum, index) => sum + (quantities[index] ?? 0n), 0n),
  };
}

function prepare(names: readonly string[], price: Price): Rebill {
  // Only the sum of discounts is stored.
  if (names.includes(quoteDiscount)) return unknown;
  const marks = new Map(names.filter((name) => !isCostItem(name)).flatMap(readMark));
  const charged = names.filter((name) => !name.includes(":") && name !== "hung_up");
  if (charged.some((name) => tokenNames.has(name))) {
    const serviceTier = serviceTiers.find((tier) => tier === marks.get("service_tier")) ?? null;
    return rebillTokens(names, derivePrice(price, { serviceTier, searches: charged.includes("searches") }));
  }
  return rebillCounted(names, charged, { price, marks });
}

function readMark(name: string): [string, string][] {
  const colon = name.indexOf(":");
  return colon < 0 ? [] : [[name.slice(0, colon), name.slice(colon + 1)]];
}

type TokenKind = "input" | "cached" | "write5m" | "write1h" | "audioInput" | "output" | "reasoning" | "audioOutput";

const tokenNames: ReadonlyMap<string, TokenKind> = new Map([
  ["input_tokens", "input"],
  ["counted_input_tokens", "input"],
  ["cached_input_tokens", "cached"],
  ["cache_write_5m_tokens", "write5m"],
  ["cache_write_1h_tokens", "write1h"],
  ["audio_input_tokens", "audioInput"],
  ["output_tokens", "output"],
  ["counted_output_tokens", "output"],
  ["reasoning_tokens", "reasoning"],
  ["audio_output_tokens", "audioOutput"],
]);

/** Kinds that the old price did not separate are billed as plain input or output. */
function rebillTokens(names: readonly string[], price: Price): Rebill {
  const kinds = names.map((name) => tokenNames.get(name));
  return (quantities) => {
    const sums = {
      input: 0,
      cached: 0,
      write5m: 0,
      write1h: 0,
      audioInput: 0,
      output: 0,
      reasoning: 0,
      audioOutput: 0,
    };
    for (const [index, kind] of kinds.entries()) {
      if (kind !== undefined) sums[kind] += Number(quantities[index] ?? 0n);
    }
    const { input, cached, write5m, write1h, audioInput, output, reasoning, audioOutput } = sums;
    return priceUsage(price, {
      ...createUsage(input + cached + write5m + write1h + audioInput, output + reasoning + audioOutput),
      ...{ cachedInputTokens: cached, cacheWriteTokens: write5m + write1h, cacheWrite1hTokens: write1h },
      ...{ inputAudioTokens: audioInput, reasoningTokens: reasoning, outputAudioTokens: audioOutput },
    });
  };
}

const countedItems = { images: "image", seconds: "second", characters: "character", calls: "call" } as const;
const countedUnits = { images: "image", seconds: "second", characters: "1K characters", calls: "call" } as const;
type Count = keyof typeof countedItems;

/** The first item has the count; the others are fees. Dramas bill their stages, which have prices of their own. */
function rebillCounted(
  names: readonly string[],
  [counted = ""]: readonly string[],
  { price, marks }: { price: Price; marks: ReadonlyMap<string, string> },
): Rebill {
  const { amounts, minimumCharge: minimum } = price;
  if (!isCount(counted) || amounts.billingType === "token" || amounts.unit !== countedUnits[counted]) return unknown;
  const { per, items } = amounts;
  const rate = findRate(items, countedItems[counted], marks);
  const fees = (["input_image", "call"] as const).filter((item) => item !== countedItems[counted]);
  const feeRates = fees.map((item) => ({ item, rate: findRate(items, item, marks) }));
  if (rate === null || feeRates.some(({ item, rate: fee }) => fee === null && items.some((one) => one.item === item))) {
    return unknown;
  }
  const place = names.indexOf(counted);
  return (quantities) => {
    const extras = feeRates.flatMap(({ item, rate: fee }) => {
      const quantity = item === "call" ? 1n : (quantities[names.indexOf("input_images")] ?? 0n);
      return fee === null ? [] : [{ name: item, quantity, rate: fee }];
    });
    return computeCharge({
      items: [{ name: counted, quantity: quantities[place] ?? 0n, rate }, ...extras],
      per,
      minimum,
    });
  };
}

function isCount(name: string): name is Count {
  return Object.hasOwn(countedItems, name);
}

/** The first item whose conditions the marks meet; `null` if there is none, or a condition is on something not stored. */
function findRate(
  items: readonly PriceItem[],
  wanted: PriceItem["item"],
  marks: ReadonlyMap<string, string>,
): Nano | null {
  for (const { item, when = {}, rate } of items) {
    if (item !== wanted) continue;
    const conditions = Object.entries(when);
    if (conditions.some(([key]) => !marks.has(key))) return null;
    if (conditions.every(([key, value]) => marks.get(key) === String(value))) return nano(rate);
  }
  return null;
}
