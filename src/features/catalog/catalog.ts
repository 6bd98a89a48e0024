import type { Model } from "./model.ts";
import type { Price } from "./price.ts";

/** How to reach an upstream. The keys are names of environment variables, `${LIKE_THIS}`. */
export type Provider = { id: string; kind: "sandbox" | "openai-compatible"; base_url?: string; api_keys?: string[] };

/** One version of the catalog, whole. */
export type Catalog = {
  version: number;
  currency: string;
  appliedAt: Date;
  providers: readonly Provider[];
  models: readonly Model[];
  prices: readonly Price[];
};
