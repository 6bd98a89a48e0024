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
} as const satisfies Record<ModelType, readonly string[]>;

/** For whom a price holds: one account, the accounts of a plan, or everybody. */
type PriceScope = {
  modelId: string;
  capability: Capability | null;
  planId: string | null;
  accountId: string | null;
};

export type PriceAmounts =
  | { billingType: "token"; unit: string; inputPrice: Nano; outputPrice: Nano; cachedInputPrice: Nano | null }
  | { billingType: "per_call" | "duration"; unit: string; price: Nano };

/** A price version: once written it never changes; a later one supersedes it. */
export type Price = PriceScope & { id: string; effectiveAt: Date; minimumCharge: Nano; amounts: PriceAmounts };
