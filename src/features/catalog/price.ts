import type { Bill } from "../../lib/bill.ts";
import type { Factor } from "../../lib/factor.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Capability, ModelType } from "./model.ts";

export const billingTypes = ["token", "per_call", "duration"] as const;
export type BillingType = (typeof billingTypes)[number];

/** The units of each billing type. */
export const unitsByBillingType = {
  token: ["1K tokens"],
  per_call: ["call", "image", "1K characters"],
  duration: ["second"],
} as const satisfies Record<BillingType, readonly string[]>;
export type Unit = (typeof unitsByBillingType)[BillingType][number];

/** Other ways to write a unit in a catalog file. Its prices are a thousand times as high. */
export const unitsOfMillions = { "1M tokens": "1K tokens", "1M characters": "1K characters" } as const;

/** The units that each model type can be priced by. */
export const unitsByType = {
  chat: ["1K tokens", "call"],
  image: ["image", "call"],
  video: ["second", "call"],
  avatar: ["second", "call"],
  drama: ["call", "second"],
  speech: ["1K characters", "call"],
  embedding: ["1K tokens", "call"],
  transcription: ["second", "1K tokens", "call"],
} as const satisfies Record<ModelType, readonly Unit[]>;

/** Kinds of tokens, and the field of the compiled rates that each has. */
export const tokenItems = {
  input: "inputPrice",
  output: "outputPrice",
  cached_input: "cachedInputPrice",
  cache_write_5m: "cacheWrite5mPrice",
  cache_write_1h: "cacheWrite1hPrice",
  input_audio: "audioInputPrice",
  reasoning: "reasoningPrice",
  output_audio: "audioOutputPrice",
} as const;
export type TokenItem = keyof typeof tokenItems;

export const itemNames = [
  ...(Object.keys(tokenItems) as TokenItem[]),
  "image",
  "input_image",
  "second",
  "character",
  "call",
  "search",
] as const;
export type ItemName = (typeof itemNames)[number];

export function isTokenItem(item: ItemName): item is TokenItem {
  return item in tokenItems;
}

const itemByUnit = {
  call: "call",
  image: "image",
  second: "second",
  "1K characters": "character",
} as const satisfies Partial<Record<Unit, ItemName>>;

/** The item that a unit counts, and that a rate without a name is for. */
export function findCountedItem(unit: Unit): ItemName {
  return unit === "1K tokens" ? "input" : itemByUnit[unit];
}

/** How many units the rate of an item is for. */
export function findItemPer(item: ItemName): bigint {
  return item === "character" || isTokenItem(item) ? 1000n : 1n;
}

/**
 * Token types with an optional price of their own, by wire and catalog name. Without one they cost as much as other
 * input or output.
 */
const ownTokenPrices = {
  cached_input_price: "cached_input",
  cache_write_5m_price: "cache_write_5m",
  cache_write_1h_price: "cache_write_1h",
  audio_input_price: "input_audio",
  reasoning_price: "reasoning",
  audio_output_price: "output_audio",
} as const satisfies Record<string, TokenItem>;

export type OwnPriceName = keyof typeof ownTokenPrices;
export const ownPriceNames = Object.keys(ownTokenPrices) as OwnPriceName[];

/** The short form of token items without conditions. */
export const tokenPriceNames = { input_price: "input", output_price: "output", ...ownTokenPrices } as const;
export type TokenPriceName = keyof typeof tokenPriceNames;

/** Every price field that is an amount. */
export const amountNames = ["price", "input_price", "output_price", ...ownPriceNames, "minimum_charge"] as const;

/** Options of a request that a rate of media can depend on. `input` is `image` if the request has input images. */
export const priceKeysByType = {
  image: ["size", "resolution", "quality", "background", "input_fidelity", "input"],
  video: ["duration", "aspect_ratio", "resolution", "quality", "frame_rate", "audio", "input"],
  avatar: ["aspect_ratio", "resolution"],
  speech: ["voice"],
  chat: [],
  drama: [],
  embedding: [],
  transcription: [],
} as const satisfies Record<ModelType, readonly string[]>;
export type PriceKey = (typeof priceKeysByType)[ModelType][number];
export const priceKeys: readonly PriceKey[] = [...new Set(Object.values(priceKeysByType).flat())];

/** The values of a request by which its rate is chosen. */
export type PriceFacts = Readonly<Partial<Record<PriceKey, string | number | boolean>>>;

/** The rate of an item. With conditions, it applies to requests that meet all of them. */
export type PriceItem = {
  item: ItemName;
  /** For `findItemPer` units. */
  rate: Nano;
  /** From how many input tokens on it applies, exclusively. */
  aboveInputTokens?: number;
  when?: PriceFacts;
};

/** Whether a tier applies to the whole call, or only to the input above its limit. */
export const tierScopes = ["call", "part"] as const;
type TierScope = (typeof tierScopes)[number];

/** The values of `service_tier` that can have a factor. */
export const serviceTiers = ["flex", "scale", "priority", "fast"] as const;
export type ServiceTier = (typeof serviceTiers)[number];

/** A price as the catalog states it. Of several items with the same name, the first that matches a request applies. */
export type PriceTerms = {
  billingType: BillingType;
  unit: Unit;
  items: readonly PriceItem[];
  tierScope: TierScope;
  serviceTiers: Readonly<Partial<Record<ServiceTier, Factor>>>;
  minimumCharge: Nano;
};

/** Whether the short form can express an item: it has no conditions, and there is a field for it. */
export function isShort({ item, when, aboveInputTokens }: PriceItem, { unit, billingType }: PriceTerms): boolean {
  if (when !== undefined || aboveInputTokens !== undefined) return false;
  return billingType === "token" ? isTokenItem(item) : item === findCountedItem(unit);
}

/** The highest rate of the item that the unit counts. */
export function findHighestRate(items: readonly PriceItem[], unit: Unit): Nano {
  const counted = findCountedItem(unit);
  return items.reduce<Nano>(
    (highest, { item, rate }) => (item === counted && rate > highest ? rate : highest),
    nano(0n),
  );
}

/** The order in which items are stored, so that equal prices are equal. Items of the same name stay in their order. */
export function sortItems(items: readonly PriceItem[]): PriceItem[] {
  const rank = ({ item }: PriceItem): number => itemNames.indexOf(item);
  return items.toSorted((a, b) => (a.aboveInputTokens ?? 0) - (b.aboveInputTokens ?? 0) || rank(a) - rank(b));
}

/** Who a price applies to: one account, the accounts of a plan, or all accounts. */
type PriceScope = {
  modelId: string;
  capability: Capability | null;
  planId: string | null;
  accountId: string | null;
};

export type PriceIdentity = PriceScope & { id: string; effectiveAt: Date };

/** Without a rate of its own, a kind of token costs as much as other input or output. */
export type TokenRates = { inputPrice: Nano; outputPrice: Nano } & {
  [name in Exclude<(typeof tokenItems)[TokenItem], "inputPrice" | "outputPrice">]: Nano | null;
};

/** The rates of calls whose input has more tokens than `above`. */
export type TokenTier = TokenRates & { above: number };

type BillItem = Bill["items"][number];

/** Rates compiled for calls, each for `per` units, with every factor in them. */
export type TokenAmounts = TokenRates & {
  billingType: "token";
  per: bigint;
  /** Beyond the first, in ascending order; almost always empty. */
  tiers: readonly TokenTier[];
  tierScope: TierScope;
  /** Charged once for each call. */
  fees: readonly BillItem[];
};

export type CountedAmounts = {
  billingType: "per_call" | "duration";
  unit: Unit;
  per: bigint;
  /** The highest rate of the unit. */
  price: Nano;
  items: readonly PriceItem[];
};

export type PriceAmounts = TokenAmounts | CountedAmounts;

/** A price version. Immutable: a later one supersedes it. */
export type Price = PriceIdentity & {
  terms: PriceTerms;
  /** Compiled for an account and a request by `compile-price.ts`. */
  amounts: PriceAmounts;
  minimumCharge: Nano;
  /** The factor of everything. */
  factor: Factor;
  /** The account's part of it; `null` without one. */
  multiplier: Factor | null;
  /** Items without cost that record which factors a charge contains. */
  marks: readonly BillItem[];
  /** Whether no call can cost anything. */
  isFree: boolean;
};
