import { type Static, type TSchema, Type } from "typebox";
import type { CatalogView, OfferedModel } from "./catalog-view.ts";
import { capabilities } from "./model.ts";
import { presentAmounts } from "./present-amounts.ts";
import { billingTypes, type OwnPriceName, type Price } from "./price.ts";

const amount = Type.String({ pattern: "^\\d+\\.\\d{2,9}$", examples: ["0.15"] });

const ownAmount = (description: string) => Type.Optional({ ...amount, description });

const ownPriceFields = {
  cached_input_price: ownAmount("For input that was read from a cache."),
  cache_write_5m_price: ownAmount("For input that was written to a cache which keeps it for five minutes."),
  cache_write_1h_price: ownAmount("For input that was written to a cache which keeps it for an hour."),
  audio_input_price: ownAmount("For input that is sound."),
  reasoning_price: ownAmount("For output that the model thought before it answered."),
  audio_output_price: ownAmount("For output that is sound."),
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
    currency: Type.String({ description: "ISO 4217; all amounts are in it." }),
    data: Type.Array(priceEntrySchema),
    effective_at: Type.String({ format: "date-time", description: "When the newest entry took effect." }),
  },
  { description: "The prices that hold for the account." },
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
