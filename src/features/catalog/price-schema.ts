import {
  type Static,
  type TBoolean,
  type TNumber,
  type TOptional,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from "typebox";
import { presentFactor } from "../../lib/factor.ts";
import type { CatalogView, OfferedModel } from "./catalog-view.ts";
import { capabilities } from "./model.ts";
import { presentAmounts } from "./present-amounts.ts";
import { billingTypes, type OwnPriceName, type Price, type PriceKey, priceKeys, tierScopes } from "./price.ts";

const amount = Type.String({ pattern: "^\\d+\\.\\d{2,24}$", examples: ["0.15"] });

const ownAmount = (description: string) => Type.Optional({ ...amount, description });

const ownPriceFields = {
  cached_input_price: ownAmount("Input tokens read from a prompt cache."),
  cache_write_5m_price: ownAmount("Input tokens written to a prompt cache with a lifetime of 5 minutes."),
  cache_write_1h_price: ownAmount("Input tokens written to a prompt cache with a lifetime of 1 hour."),
  audio_input_price: ownAmount("Audio input tokens."),
  reasoning_price: ownAmount("Reasoning tokens."),
  audio_output_price: ownAmount("Audio output tokens."),
} satisfies Record<OwnPriceName, TSchema>;

const conditionFields = Object.fromEntries(
  priceKeys.map((name) => [name, Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))]),
) as Record<PriceKey, TOptional<TUnion<[TString, TNumber, TBoolean]>>>;

const priceItemSchema = Type.Object(
  {
    item: Type.String({ description: "What the rate is for.", examples: ["output", "image", "call"] }),
    price: amount,
    above_input_tokens: Type.Optional(
      Type.Integer({ description: "The rate applies to calls with more input tokens; see `tier_scope`." }),
    ),
    ...conditionFields,
  },
  {
    description:
      "A rate with conditions, or of an item without a field of its own. Tokens and characters are priced per 1,000, everything else per unit. Of several entries for one item, the first that matches the request applies.",
  },
);

export const priceEntrySchema = Type.Object({
  model: Type.String(),
  billing_type: Type.Enum([...billingTypes]),
  price: Type.Optional({ ...amount, description: "Per unit. If `items` has several rates of the unit, the highest." }),
  input_price: Type.Optional(amount),
  output_price: Type.Optional(amount),
  ...ownPriceFields,
  unit: Type.String({ examples: ["1K tokens", "image", "second", "call", "1K characters"] }),
  items: Type.Optional(Type.Array(priceItemSchema)),
  tier_scope: Type.Optional(
    Type.Enum([...tierScopes], {
      description: "`part`: rates above a limit apply to the input above it only. Default: to the whole call.",
    }),
  ),
  service_tiers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "Factors of the whole price, by the request's `service_tier`.",
      examples: [{ flex: "0.5" }],
    }),
  ),
  multiplier: Type.Optional(
    Type.String({ description: "Your account's factor. All amounts here contain it.", examples: ["0.8"] }),
  ),
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
  const { modelId, capability, multiplier } = price;
  return {
    model: modelId,
    ...presentAmounts(price, "wire"),
    ...(multiplier === null ? {} : { multiplier: presentFactor(multiplier) }),
    ...(capability === null ? {} : { capability }),
  };
}
