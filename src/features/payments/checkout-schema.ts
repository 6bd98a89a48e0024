import { type Static, Type } from "typebox";
import { presentMoney } from "../../lib/money.ts";
import { type Checkout, checkoutStates } from "./checkout.ts";

const time = (description: string) => Type.Union([Type.String({ format: "date-time" }), Type.Null()], { description });

export const checkoutSchema = Type.Object({
  object: Type.Literal("checkout"),
  id: Type.String({ examples: ["chk_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  amount: Type.String({ examples: ["20.00"] }),
  currency: Type.String(),
  state: Type.Enum([...checkoutStates], {
    description:
      "`mismatched` when another amount arrived than was asked for: the service's operator has to look at it.",
  }),
  url: Type.Union([Type.String(), Type.Null()], {
    description: "Where to pay; `null` when there is nothing left to do. An open one without it waits for its money.",
  }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  expires_at: Type.String({ format: "date-time", description: "Until when it can be paid." }),
  paid_at: time("When it was credited."),
});

export const newCheckoutSchema = Type.Object(
  { amount: Type.String({ maxLength: 32, description: "How much to pay, as a decimal such as `20` or `20.50`." }) },
  { additionalProperties: false },
);

export const checkoutQuerySchema = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    after: Type.Optional(Type.String({ pattern: "^chk_[0-9a-z]{1,64}$", description: "A `next_cursor`." })),
  },
  { additionalProperties: false },
);

export const checkoutListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(checkoutSchema),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `after` to get what follows." }),
});

export function presentCheckout(checkout: Checkout): Static<typeof checkoutSchema> {
  const { id, amount, currency, state, createdAt, expiresAt, completedAt, endedAt } = checkout;
  const isPayable = state === "open" && completedAt === null;
  return {
    object: "checkout",
    id,
    amount: presentMoney(amount),
    currency,
    state,
    url: isPayable ? checkout.sessionUrl : null,
    created: Math.floor(createdAt.getTime() / 1000),
    expires_at: expiresAt.toISOString(),
    paid_at: state === "paid" ? (endedAt?.toISOString() ?? null) : null,
  };
}

/** A page of what was asked for with one checkout more than the page holds. */
export function presentCheckouts(checkouts: readonly Checkout[], limit: number): Static<typeof checkoutListSchema> {
  const hasMore = checkouts.length > limit;
  const page = checkouts.slice(0, limit);
  const next_cursor = hasMore ? (page.at(-1)?.id ?? null) : null;
  return { object: "list", data: page.map(presentCheckout), has_more: hasMore, next_cursor };
}
