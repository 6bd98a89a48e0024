import { type Static, type TBoolean, type TNumber, type TOptional, type TString, type TUnion, Type } from "typebox";
import { nativeWires } from "../../providers/contract.ts";
import { optionLimits } from "../../providers/media-options.ts";
import { dialectNames } from "../../providers/openai-compatible/dialects/chat-dialects.ts";
import { balanceNames, providerKinds } from "../../providers/provider-definition.ts";
import { routePolicies } from "../../providers/route-pace.ts";
import { fieldForms } from "../../providers/route-terms.ts";
import { capabilities, extraParameters, holdPolicies, modelTypes } from "./model.ts";
import {
  billingTypes,
  itemNames,
  type OwnPriceName,
  ownPriceNames,
  type PriceKey,
  priceKeys,
  type ServiceTier,
  serviceTiers,
  tierScopes,
} from "./price.ts";

/** The catalog as operators write it. `check-catalog.ts` checks the rules that a schema cannot express. */

const closed = { additionalProperties: false };
const text = Type.String({ minLength: 1 });
const texts = Type.Array(text, { minItems: 1 });
const positive = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

const milliseconds = Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 }));

const timeoutsSchema = Type.Object(
  { connect_ms: milliseconds, first_byte_ms: milliseconds, idle_ms: milliseconds, total_ms: milliseconds },
  closed,
);

const providerSchema = Type.Object(
  {
    id: text,
    kind: Type.Enum([...providerKinds]),
    base_url: Type.Optional(text),
    allow_http: Type.Optional(Type.Boolean()),
    api_keys: Type.Optional(texts),
    resource: Type.Optional(text),
    api_version: Type.Optional(text),
    region: Type.Optional(text),
    role_arn: Type.Optional(text),
    external_id: Type.Optional(text),
    sts_url: Type.Optional(text),
    project: Type.Optional(text),
    location: Type.Optional(text),
    publisher: Type.Optional(Type.Enum(["google", "anthropic"])),
    package: Type.Optional(text),
    headers: Type.Optional(Type.Record(Type.String(), text)),
    auth_header: Type.Optional(text),
    idempotency_header: Type.Optional(text),
    dialect: Type.Optional(Type.Enum([...dialectNames])),
    output_cap_field: Type.Optional(Type.Enum(["max_completion_tokens", "max_tokens", "none"])),
    stream_usage: Type.Optional(Type.Boolean()),
    system_role: Type.Optional(Type.Enum(["as-sent", "system"])),
    unsupported_fields: Type.Optional(texts),
    native_wires: Type.Optional(Type.Array(Type.Enum([...nativeWires]), { minItems: 1, uniqueItems: true })),
    cache_marks: Type.Optional(Type.Enum(["automatic", "as-sent"])),
    connections_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    trace_context: Type.Optional(Type.Boolean()),
    tasks_max: Type.Optional(positive),
    tasks_per_minute: Type.Optional(positive),
    task_limits_per: Type.Optional(Type.Enum(["provider", "key"])),
    webhook_secret: Type.Optional(text),
    balance: Type.Optional(Type.Enum([...balanceNames])),
    balance_low: Type.Optional(Type.String({ pattern: "^\\d{1,9}(\\.\\d{1,9})?$" })),
    timeouts: Type.Optional(timeoutsSchema),
  },
  closed,
);

const optionValue = Type.Union([text, Type.Number(), Type.Boolean()]);

const fieldRuleSchema = Type.Union([
  text,
  Type.Object(
    {
      field: Type.Optional(text),
      as: Type.Optional(Type.Enum([...fieldForms])),
      frames_per_second: Type.Optional(positive),
      extra_frames: Type.Optional(positive),
      values: Type.Optional(Type.Record(Type.String(), optionValue)),
      only: Type.Optional(Type.Array(optionValue, { minItems: 1 })),
    },
    closed,
  ),
]);

const ownPriceFields = Object.fromEntries(ownPriceNames.map((name) => [name, Type.Optional(text)])) as Record<
  OwnPriceName,
  TOptional<TString>
>;

const conditionFields = Object.fromEntries(priceKeys.map((name) => [name, Type.Optional(optionValue)])) as Record<
  PriceKey,
  TOptional<TUnion<[TString, TNumber, TBoolean]>>
>;

const priceItemSchema = Type.Object(
  {
    item: Type.Optional(Type.Enum([...itemNames])),
    price: text,
    above_input_tokens: Type.Optional(positive),
    ...conditionFields,
  },
  closed,
);

const serviceTierFields = Object.fromEntries(serviceTiers.map((name) => [name, Type.Optional(text)])) as Record<
  ServiceTier,
  TOptional<TString>
>;

/** What a price and a cost sheet have in common. */
const rateFields = {
  unit: text,
  price: Type.Optional(text),
  input_price: Type.Optional(text),
  output_price: Type.Optional(text),
  ...ownPriceFields,
  items: Type.Optional(Type.Array(priceItemSchema, { minItems: 1 })),
  tier_scope: Type.Optional(Type.Enum([...tierScopes])),
  service_tiers: Type.Optional(Type.Object(serviceTierFields, { ...closed, minProperties: 1 })),
  minimum_charge: Type.Optional(text),
};

const costSheetSchema = Type.Object(rateFields, closed);

const routeSchema = Type.Object(
  {
    provider: text,
    upstream_model: text,
    priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
    weight: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    passthrough: Type.Optional(texts),
    timeouts: Type.Optional(timeoutsSchema),
    cost: Type.Optional(text),
    cost_sheet: Type.Optional(costSheetSchema),
    reports_cost: Type.Optional(Type.Literal(true)),
    capability: Type.Optional(Type.Enum([...capabilities])),
    fields: Type.Optional(Type.Record(Type.String(), fieldRuleSchema)),
    parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    voices: Type.Optional(Type.Record(Type.String(), text)),
  },
  closed,
);

const stagesSchema = Type.Object(
  {
    script: Type.Optional(Type.Object({ chat: text }, closed)),
    roles: Type.Optional(Type.Object({ chat: text }, closed)),
    storyboard: Type.Optional(Type.Object({ chat: text, image: text }, closed)),
    video: Type.Optional(Type.Object({ video: text, speech: text, avatar: Type.Optional(text) }, closed)),
  },
  closed,
);

const limitsSchema = Type.Object(
  {
    durations: Type.Optional(Type.Array(positive, { minItems: 1 })),
    aspect_ratios: Type.Optional(texts),
    max_prompt_length: Type.Optional(positive),
    sizes: Type.Optional(texts),
    max_n: Type.Optional(positive),
    max_input_images: Type.Optional(positive),
    voices: Type.Optional(texts),
    response_formats: Type.Optional(texts),
    context_window: Type.Optional(positive),
    max_output_tokens: Type.Optional(positive),
    max_inputs: Type.Optional(positive),
    max_dimensions: Type.Optional(positive),
    max_audio_seconds: Type.Optional(positive),
    max_file_bytes: Type.Optional(positive),
    last_image: Type.Optional(Type.Literal(true)),
    ...optionLimits,
  },
  closed,
);

const modelSchema = Type.Object(
  {
    id: text,
    aliases: Type.Optional(texts),
    name: text,
    type: Type.Enum([...modelTypes]),
    logo: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    advantages: Type.Optional(Type.Array(text)),
    scenarios: Type.Optional(Type.Array(text)),
    capabilities: Type.Array(Type.Enum([...capabilities]), { minItems: 1 }),
    limits: Type.Optional(limitsSchema),
    usual_output_tokens: Type.Optional(positive),
    hold: Type.Optional(Type.Enum([...holdPolicies])),
    extra_parameters: Type.Optional(Type.Array(Type.Enum([...extraParameters]), { minItems: 1 })),
    plans: Type.Optional(texts),
    created_at: Type.Optional(text),
    deprecated_at: Type.Optional(text),
    shutdown_date: Type.Optional(text),
    policy: Type.Optional(Type.Enum([...routePolicies])),
    routes: Type.Optional(Type.Array(routeSchema)),
    stages: Type.Optional(stagesSchema),
  },
  closed,
);

const priceSchema = Type.Object(
  {
    model: text,
    capability: Type.Optional(Type.Enum([...capabilities])),
    plan: Type.Optional(text),
    account: Type.Optional(text),
    currency: Type.Optional(text),
    billing_type: Type.Enum([...billingTypes]),
    ...rateFields,
    effective_at: Type.Optional(text),
  },
  closed,
);

const multiplierSchema = Type.Object(
  {
    plan: Type.Optional(text),
    account: Type.Optional(text),
    type: Type.Optional(Type.Enum([...modelTypes])),
    model: Type.Optional(text),
    factor: text,
    effective_at: Type.Optional(text),
    ends_at: Type.Optional(text),
  },
  closed,
);

export const catalogFileSchema = Type.Object(
  {
    currency: text,
    providers: Type.Array(providerSchema),
    models: Type.Array(modelSchema),
    prices: Type.Array(priceSchema),
    multipliers: Type.Optional(Type.Array(multiplierSchema)),
  },
  closed,
);

export type CatalogFile = Static<typeof catalogFileSchema>;
export type ModelEntry = CatalogFile["models"][number];
export type PriceLine = CatalogFile["prices"][number];
export type CostSheetLine = Static<typeof costSheetSchema>;
export type PriceItemLine = Static<typeof priceItemSchema>;
export type MultiplierLine = Static<typeof multiplierSchema>;

/** One problem and its path: the field names and indexes from the top of the file. */
export type CatalogProblem = { path: readonly (string | number)[]; message: string };
export type ReportProblem = (path: CatalogProblem["path"], message: string) => void;
