import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { Model } from "./model.ts";
import type { Multiplier } from "./multiplier.ts";
import type { Price } from "./price.ts";

/** One version of the catalog. */
export type Catalog = {
  version: number;
  currency: string;
  appliedAt: Date;
  providers: readonly ProviderDefinition[];
  models: readonly Model[];
  prices: readonly Price[];
  multipliers: readonly Multiplier[];
};
