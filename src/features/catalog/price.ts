import type { Nano } from "../../lib/money.ts";
import type { Capability, ModelType } from "./model.ts";

export const billingTypes = ["token", "per_call", "duration"] as const;
export type BillingType = (typeof billingTypes)[number];

/** What one unit is, for each way of billing. */
export const unitsByBillingType = {
  token: ["1K tokens"],
  per_call: ["call", "image", "1K characters"],
  duration: ["second"],
} as const satisfies Record<BillingType, readonly string[]>;

/** What can be counted of what a model of each type makes. */
export const unitsByType = {
  chat: ["1K tokens", "call"],
  image: ["image", "call"],
  video: ["second", "call"],
  avatar: ["second", "call"],
  drama: ["call", "second"],
  speech: ["1K characters", "call"],
  embedding: ["1K tokens", "call"],
  transcription: ["second", "1K tokens", "call"],
} as const satisfies Record<ModelType, readonly string[]>;

/** For whom a price holds: one account, the accounts of a plan, or everybody. */
type PriceScope = {
  modelId: string;
  capability: Capability | null;
  planId: string | null;
  accountId: string | null;
};

/**
 * Tokens that may have a price of their own, by its name in a catalog and on the wire. Without one they cost as much as
 * any other input or output.
 */
export const ownTokenPrices = {
  cached_input_price: "cachedInputPrice",
  cache_write_5m_price: "cacheWrite5mPrice",
  cache_write_1h_price: "cacheWrite1hPrice",
  audio_input_price: "audioInputPrice",
  reasoning_price: "reasoningPrice",
  audio_output_price: "audioOutputPrice",
} as const;

export type OwnPriceName = keyof typeof ownTokenPrices;
export type OwnTokenPrices = { [name in (typeof ownTokenPrices)[OwnPriceName]]: Nano | null };

export const ownPriceNames = Object.keys(ownTokenPrices) as OwnPriceName[];

/** Everything in a line of the catalog that is an amount. */
export const amountNames = ["price", "input_price", "output_price", ...ownPriceNames, "minimum_charge"] as const;

/** Reads all of them from wherever they are kept under their names. */
export function readOwnPrices(read: (name: OwnPriceName) => Nano | null): OwnTokenPrices {
  return Object.fromEntries(ownPriceNames.map((name) => [ownTokenPrices[name], read(name)])) as OwnTokenPrices;
}

export type TokenAmounts = { billingType: "token"; unit: string; inputPrice: Nano; outputPrice: Nano } & OwnTokenPrices;

export type PriceAmounts = TokenAmounts | { billingType: "per_call" | "duration"; unit: string; price: Nano };

/** A price version: once written it never changes; a later one supersedes it. */
export type Price = PriceScope & { id: string; effectiveAt: Date; minimumCharge: Nano; amounts: PriceAmounts };
