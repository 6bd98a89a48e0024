import { type Static, type TSchema, Type } from "typebox";
import type { CatalogView, OfferedModel } from "./catalog-view.ts";
import { capabilities } from "./model.ts";
import { presentAmounts } from "./present-amounts.ts";
import { billingTypes, type OwnPriceName, type Price } from "./price.ts";

const amount = Type.String({ pattern: "^\\d+\\.\\d{2,9}$", examples: ["0.15"] });

const ownAmount = (description: string) => Type.Optional({ ...amount, description });

const ownPriceFields = {
  cached_input_price: ownAmount("Input tokens read from a prompt cache."),
  cache_write_5m_price: ownAmount("Input tokens written to a prompt cache with a lifetime of 5 minutes."),
  cache_write_1h_price: ownAmount("Input tokens written to a prompt cache with a lifetime of 1 hour."),
  audio_input_price: ownAmount("Audio input tokens."),
  reasoning_price: ownAmount("Reasoning tokens."),
  audio_output_price: ownAmount("Audio output tokens."),
} satisfies Record<OwnPriceName, TSchema>;

export const priceEntrySchema = Type.Object({
  model: Type.String(),
  billing_type: Type.Enum([...billingTypes]),
  price: Type.Optional(amount),
  input_price: Type.Optional(amount),
  output_price: Type.Optional(amount),
  ...ownPriceFields,
  unit: Type.String({ examples: ["1K tokens", "image", "second", "call", "1K characters"] }),
  minimum_charge: Type.Optional(amount),
  capability: Type.Optional(Type.Enum([...capabilities])),
});

export const priceListSchema = Type.Object(
  {
    object: Type.Literal("list"),
    currency: Type.String({ description: "ISO 4217 code of all amounts." }),
    data: Type.Array(priceEntrySchema),
    effective_at: Type.String({ format: "date-time", description: "When the newest price took effect." }),
  },
  { description: "The prices in force for your account." },
);

export function presentPriceList(
  { catalog }: CatalogView,
  models: readonly OfferedModel[],
  options: { currency: string; now: Date },
): Static<typeof priceListSchema> {
  const prices = models.flatMap((offered) => offered.prices);
  const newest = prices.reduce<Date | null>(
    (latest, { effectiveAt }) => (latest === null || effectiveAt > latest ? effectiveAt : latest),
    null,
  );
  return {
    object: "list",
    currency: options.currency,
    data: prices.map(presentPrice),
    effective_at: (newest ?? catalog?.appliedAt ?? options.now).toISOString(),
  };
}

export function presentPrice(price: Price): Static<typeof priceEntrySchema> {
  const { modelId, capability } = price;
  return { model: modelId, ...presentAmounts(price), ...(capability === null ? {} : { capability }) };
}
