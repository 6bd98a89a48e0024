import type { Nano } from "../../lib/money.ts";
import type { Capability, ModelType } from "./model.ts";

export const billingTypes = ["token", "per_call", "duration"] as const;
export type BillingType = (typeof billingTypes)[number];

/** The units of each billing type. */
export const unitsByBillingType = {
  token: ["1K tokens"],
  per_call: ["call", "image", "1K characters"],
  duration: ["second"],
} as const satisfies Record<BillingType, readonly string[]>;

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
} as const satisfies Record<ModelType, readonly string[]>;

/** Who a price applies to: one account, the accounts of a plan, or all accounts. */
type PriceScope = {
  modelId: string;
  capability: Capability | null;
  planId: string | null;
  accountId: string | null;
};

/**
 * Token types with an optional price of their own, by wire and catalog name. Without one they cost as much as other
 * input or output.
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

/** Every price field that is an amount. */
export const amountNames = ["price", "input_price", "output_price", ...ownPriceNames, "minimum_charge"] as const;

/** Builds the record from any source that has these names. */
export function readOwnPrices(read: (name: OwnPriceName) => Nano | null): OwnTokenPrices {
  return Object.fromEntries(ownPriceNames.map((name) => [ownTokenPrices[name], read(name)])) as OwnTokenPrices;
}

export type TokenAmounts = { billingType: "token"; unit: string; inputPrice: Nano; outputPrice: Nano } & OwnTokenPrices;

export type PriceAmounts = TokenAmounts | { billingType: "per_call" | "duration"; unit: string; price: Nano };

/** A price version. Immutable: a later one supersedes it. */
export type Price = PriceScope & { id: string; effectiveAt: Date; minimumCharge: Nano; amounts: PriceAmounts };
