import { type Static, Type } from "typebox";
import { nano, presentMoney } from "../../lib/money.ts";
import { type Clawback, computeDebt } from "../ledger/index.ts";
import { type Checkout, checkoutStates } from "./checkout.ts";
import { isInEffect, type Reversal } from "./reversal.ts";
import { fromMinor } from "./stripe-amount.ts";

const time = (description: string) => Type.Union([Type.String({ format: "date-time" }), Type.Null()], { description });

export const checkoutSchema = Type.Object({
  object: Type.Literal("checkout"),
  id: Type.String({ examples: ["chk_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  amount: Type.String({ examples: ["20.00"] }),
  currency: Type.String(),
  state: Type.Enum([...checkoutStates], {
    description: "`mismatched`: the payment does not match the checkout, and the service's operator has to review it.",
  }),
  url: Type.Union([Type.String(), Type.Null()], {
    description:
      "Stripe's payment page, or `null` if there is nothing left to do. An open checkout without a URL waits for its money.",
  }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  expires_at: Type.String({ format: "date-time", description: "You can pay until then." }),
  paid_at: time("When the payment was credited."),
  is_automatic: Type.Boolean({ description: "Whether an automatic top-up charged the saved card." }),
  reversals: Type.Array(
    Type.Object({
      kind: Type.Enum(["refund", "dispute"]),
      amount: Type.String({ examples: ["20.00"] }),
      in_effect: Type.Boolean({
        description: "`false` for a failed refund, a won dispute or an inquiry.",
      }),
    }),
    { description: "Refunds and disputes of the payment. Those in effect take the credit back." },
  ),
});

export const debtSchema = Type.Object({
  object: Type.Literal("debt"),
  amount: Type.String({
    examples: ["15.00"],
    description: `What you owe for payments that were refunded or disputed after you spent them. While it is above zero, the
account cannot spend. Credit that you add pays the debt first.`,
  }),
  currency: Type.String(),
  data: Type.Array(
    Type.Object({
      checkout_id: Type.String(),
      kind: Type.Enum(["refund", "dispute"]),
      amount: Type.String(),
    }),
  ),
});

export const newCheckoutSchema = Type.Object(
  {
    amount: Type.String({ maxLength: 32, description: "The amount to pay, as a decimal such as `20` or `20.50`." }),
    save_card: Type.Optional(
      Type.Boolean({ default: false, description: "Save the card of this payment for automatic top-ups." }),
    ),
  },
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
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `after` to get the next page." }),
});

export function presentCheckout(
  checkout: Checkout,
  reversals: readonly Reversal[] = [],
): Static<typeof checkoutSchema> {
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
    is_automatic: checkout.origin === "automatic",
    reversals: reversals.map((reversal) => ({
      kind: reversal.kind,
      amount: presentMoney(fromMinor(reversal.amountMinor, currency)),
      in_effect: isInEffect(reversal),
    })),
  };
}

/** `checkouts` has one row more than the page if there is a next page. */
export function presentCheckouts(
  checkouts: readonly Checkout[],
  { limit, reversals }: { limit: number; reversals: readonly (Reversal & { checkoutId: string })[] },
): Static<typeof checkoutListSchema> {
  const hasMore = checkouts.length > limit;
  const page = checkouts.slice(0, limit);
  const next_cursor = hasMore ? (page.at(-1)?.id ?? null) : null;
  const data = page.map((checkout) =>
    presentCheckout(
      checkout,
      reversals.filter(({ checkoutId }) => checkoutId === checkout.id),
    ),
  );
  return { object: "list", data, has_more: hasMore, next_cursor };
}

export function presentDebt(debts: readonly Clawback[], currency: string): Static<typeof debtSchema> {
  const amounts = debts.map((debt) => ({ debt, amount: computeDebt(debt) }));
  return {
    object: "debt",
    amount: presentMoney(nano(amounts.reduce((sum, { amount }) => sum + amount, 0n))),
    currency,
    data: amounts.map(({ debt: { cause }, amount }) => ({
      checkout_id: cause.id,
      kind: cause.kind === "payment_dispute" ? "dispute" : "refund",
      amount: presentMoney(amount),
    })),
  };
}
