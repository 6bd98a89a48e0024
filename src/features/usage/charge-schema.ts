import { type Static, Type } from "typebox";
import { computeCacheSaving, findQuoteDiscount, isHungUp, listChargedItems, listMarks } from "../../lib/bill.ts";
import { nano, presentMoney, presentNanoFraction } from "../../lib/money.ts";
import { presentPrice, priceEntrySchema } from "../catalog/index.ts";
import { presentAmount } from "../ledger/index.ts";
import type { ChargeRecord } from "./charge-store.ts";
import { describeItems } from "./describe-items.ts";
import type { ExplainedCharge } from "./explain-charge.ts";
import { causeSchema, chargeIdPattern, createPageSchema, listFields, toSeconds, unitSchema } from "./list-schema.ts";
import { chargeFilterFields, moneySchema, periodFields } from "./usage-schema.ts";

const amount = (description: string) => Type.String({ examples: ["0.05", "1200"], description });
const maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const chargeQuerySchema = Type.Object(
  {
    ...periodFields,
    ...chargeFilterFields,
    task_id: Type.Optional(
      Type.String({ pattern: "^task_[0-9a-z]{1,64}$", description: "Only charges of this task." }),
    ),
    ...listFields(chargeIdPattern),
  },
  { additionalProperties: false },
);

const chargeFields = {
  object: Type.Literal("charge"),
  id: Type.String({ examples: ["txn_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  model: maybe("The model."),
  key_id: maybe("The API key that made the call; `null` if unknown."),
  capability: maybe("The model's capability, if each has its own price."),
  cause: causeSchema,
  task_id: maybe("The task, if it was one."),
  request_id: maybe("The `x-request-id` of the call."),
  charge: moneySchema("The amount paid in money."),
  unit: unitSchema,
  quota_units: Type.Integer({ minimum: 0, description: "Units that the plan's quota paid instead." }),
  summary: Type.String({ examples: ["1,200 input tokens, 300 output tokens"] }),
  priced_by: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "What decided the rates, such as your `multiplier`, the `service_tier` or the `resolution`.",
      examples: [{ resolution: "1080p" }],
    }),
  ),
  hung_up: Type.Optional(
    Type.Literal(true, { description: "The client closed the connection early. The model's usage is charged." }),
  ),
};

const chargeSchema = Type.Object(chargeFields);

export const chargeListSchema = createPageSchema(chargeSchema);

const pricedSchema = Type.Object({
  id: Type.String(),
  ...priceEntrySchema.properties,
  effective_at: Type.String({ format: "date-time" }),
  is_current: Type.Boolean({ description: "Whether the next call is charged at this price." }),
});

const itemSchema = Type.Object({
  name: Type.String({ examples: ["input_tokens"] }),
  quantity: Type.Integer({ minimum: 0 }),
  rate: moneySchema("The price of `per` units."),
  per: Type.Integer({ minimum: 1, examples: [1000] }),
  amount: moneySchema("Quantity × rate ÷ per, not rounded. Only the sum is."),
  price_id: Type.Optional(Type.String({ description: "The stage's own price, if stages are priced separately." })),
});

const bucketSchema = Type.Object({
  kind: Type.Enum(["cash", "gift", "quota"]),
  amount: amount("The amount it paid."),
  expires_at: maybe("When the rest of the bucket expires."),
});

export const explainedChargeSchema = Type.Object(
  {
    ...chargeFields,
    price: Type.Union([pricedSchema, Type.Null()], { description: "The price when the work began." }),
    items: Type.Array(itemSchema),
    minimum_charge: moneySchema("The minimum charge."),
    quote_discount: Type.Optional(
      moneySchema("How much the request's quote reduced the charge. The items are those without it."),
    ),
    cost: amount("The sum of the items, rounded half up once, at least the minimum charge, less `quote_discount`."),
    cache_saving: Type.Optional(moneySchema("How much more it would have cost without the cheaper cached input.")),
    lost: amount("Usage beyond the charge. The service absorbed it; you don't owe it."),
    buckets: Type.Array(bucketSchema, { description: "The credit buckets that paid, in order." }),
    held: amount("The amount on hold before. The rest was released."),
    balance_after: maybe("The balance of the unit afterwards; `null` if nothing moved."),
    refunds: Type.Array(
      Type.Object({ id: Type.String(), created: Type.Integer(), amount: amount("The refunded amount.") }),
    ),
  },
  { description: "Amounts are in `unit`: a decimal string for money, whole units for a quota." },
);

export function presentCharge(charge: ChargeRecord): Static<typeof chargeSchema> {
  const { id, createdAt, model, keyId, capability, cause, requestId, unit, paid, bill } = charge;
  const isMoney = unit === "money";
  const marks = listMarks(bill);
  return {
    object: "charge",
    ...{ id, model, capability, cause, unit },
    created: toSeconds(createdAt),
    key_id: keyId,
    task_id: cause.kind === "task" ? cause.id : null,
    request_id: requestId,
    charge: presentMoney(nano(isMoney ? paid : 0n)),
    quota_units: isMoney ? 0 : Number(paid),
    summary: describeItems(bill.items),
    ...(Object.keys(marks).length === 0 ? {} : { priced_by: marks }),
    ...(isHungUp(bill) ? { hung_up: true as const } : {}),
  };
}

export function presentExplained(charge: ExplainedCharge): Static<typeof explainedChargeSchema> {
  const { unit, bill, entries, price, refunds } = charge;
  const present = (value: bigint): string => presentAmount(unit, value);
  return {
    ...presentCharge(charge),
    price: price === null ? null : presentVersion(price),
    items: listChargedItems(bill).map((item, index) => presentItem(item, bill.per, charge.itemPriceIds[index] ?? null)),
    minimum_charge: presentMoney(bill.minimum),
    ...presentDiscount(charge),
    cost: present(charge.cost),
    ...presentSaving(charge),
    lost: present(charge.lost),
    buckets: entries.flatMap((entry) => presentBucket(entry, present)),
    held: present(charge.held),
    balance_after: entries.map(({ balance }) => present(balance)).at(-1) ?? null,
    refunds: refunds.map((refund) => ({
      id: refund.id,
      created: toSeconds(refund.createdAt),
      amount: present(refund.amount),
    })),
  };
}

/** A charge that a quota paid saves no money. */
function presentSaving({ unit, bill }: ExplainedCharge): { cache_saving?: string } {
  const saving = unit === "money" ? computeCacheSaving(bill) : 0n;
  return saving === 0n ? {} : { cache_saving: presentMoney(nano(saving)) };
}

function presentDiscount({ unit, bill }: ExplainedCharge): { quote_discount?: string } {
  const discount = unit === "money" ? findQuoteDiscount(bill) : nano(0n);
  return discount === 0n ? {} : { quote_discount: presentMoney(discount) };
}

function presentVersion(price: NonNullable<ExplainedCharge["price"]>): Static<typeof pricedSchema> {
  const { id, effectiveAt, isCurrent } = price;
  return { id, ...presentPrice(price), effective_at: effectiveAt.toISOString(), is_current: isCurrent };
}

function presentItem(
  { name, quantity, rate }: ExplainedCharge["bill"]["items"][number],
  per: bigint,
  priceId: string | null,
): Static<typeof itemSchema> {
  const each = /(^|_)(tokens|characters)$/.test(name) ? 1000n : 1n;
  return {
    name,
    quantity: Number(quantity),
    // Factors are part of `rate` and `per`.
    rate: presentNanoFraction(rate * each, per),
    per: Number(each),
    amount: presentNanoFraction(quantity * rate, per),
    ...(priceId === null ? {} : { price_id: priceId }),
  };
}

/** Losses have no bucket. */
function presentBucket(
  { bucket, amount: change }: ExplainedCharge["entries"][number],
  present: (value: bigint) => string,
): Static<typeof bucketSchema>[] {
  if (bucket === null) return [];
  const { kind, expiresAt } = bucket;
  return [{ kind, amount: present(-change), expires_at: expiresAt?.toISOString() ?? null }];
}
