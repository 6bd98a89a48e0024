import { type Static, Type } from "typebox";
import { nano, presentMoney } from "../../../lib/money.ts";
import type { TopUpView } from "./change-top-up.ts";
import { stopReasons, topUpStates } from "./top-up-rule.ts";

const money = (description: string) => Type.String({ maxLength: 32, examples: ["20.00"], description });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

const terms = {
  threshold: money("Charge the saved card when less than this is available."),
  amount: money("What to charge each time: at least `threshold`, within the limits of a payment."),
  month_max: money("The most to charge in a calendar month, in UTC."),
};

export const topUpTermsSchema = Type.Object(terms, { additionalProperties: false });

export const topUpSchema = Type.Object({
  object: Type.Literal("auto_top_up"),
  state: Type.Enum([...topUpStates], {
    description: "`stopped`: switched off after the event in `stop_reason`, until you switch it on again.",
  }),
  stop_reason: nullable(
    Type.Enum([...stopReasons], {
      description:
        "`declined` by your bank; `reversed`: a payment was refunded or disputed; `review`: a charge was not confirmed.",
    }),
  ),
  threshold: nullable(terms.threshold),
  amount: nullable(terms.amount),
  month_max: nullable(terms.month_max),
  charged_this_month: money("What automatic top-ups have charged this month, including charges under way."),
  currency: Type.String(),
  not_before: nullable(
    Type.String({ format: "date-time", description: "The end of the pause after the last charge, or `null`." }),
  ),
  card: nullable(
    Type.Object({
      brand: Type.String({ examples: ["visa"] }),
      last4: Type.String({ examples: ["4242"] }),
      exp_month: Type.Integer(),
      exp_year: Type.Integer(),
    }),
  ),
});

export function presentTopUp(
  { rule, card, chargedThisMonth }: TopUpView,
  { currency, now }: { currency: string; now: Date },
): Static<typeof topUpSchema> {
  const write = (amount: bigint | undefined) => (amount === undefined ? null : presentMoney(nano(amount)));
  return {
    object: "auto_top_up",
    state: rule?.state ?? "off",
    stop_reason: rule?.stopReason ?? null,
    threshold: write(rule?.threshold),
    amount: write(rule?.amount),
    month_max: write(rule?.monthMax),
    charged_this_month: presentMoney(chargedThisMonth),
    currency,
    not_before: rule !== null && rule.nextAt > now ? rule.nextAt.toISOString() : null,
    card:
      card === null ? null : { brand: card.brand, last4: card.last4, exp_month: card.expMonth, exp_year: card.expYear },
  };
}
