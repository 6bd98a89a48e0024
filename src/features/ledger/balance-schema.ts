import { type Static, Type } from "typebox";
import { presentMoney } from "../../lib/money.ts";
import type { Balance } from "./balance.ts";
import type { Bucket } from "./ledger-state.ts";
import type { PlanPeriod } from "./plan-period.ts";
import { presentAmount } from "./present-statement-csv.ts";

const amount = (description: string) => Type.String({ pattern: "^\\d+\\.\\d{2,9}$", examples: ["12.50"], description });
const quota = (description: string) => Type.Integer({ minimum: 0, description });

export const balanceSchema = Type.Object({
  object: Type.Literal("balance"),
  currency: Type.String({ description: "ISO 4217; all amounts are in it." }),
  available_balance: amount("What can be spent: cash and gift without what is frozen."),
  frozen_balance: amount("On hold for calls and tasks that are not finished."),
  cash_balance: amount("Paid in, with what is frozen of it."),
  gift_balance: amount("Given, with what is frozen of it; what has expired does not count. Spent before cash."),
  quotas: Type.Object(
    { text: quota("Tokens."), image: quota("Images."), video: quota("Seconds.") },
    { description: "What is left of the plan's quotas." },
  ),
  plan: Type.Union([
    Type.Object({ name: Type.String(), expires_at: Type.String({ format: "date-time" }) }),
    Type.Null({ description: "No plan." }),
  ]),
});

export function presentBalance(
  balance: Balance,
  { currency, period }: { currency: string; period: PlanPeriod | null },
): Static<typeof balanceSchema> {
  return {
    object: "balance",
    currency,
    available_balance: presentMoney(balance.available),
    frozen_balance: presentMoney(balance.frozen),
    cash_balance: presentMoney(balance.cash),
    gift_balance: presentMoney(balance.gift),
    quotas: {
      text: Number(balance.quotas.text),
      image: Number(balance.quotas.image),
      video: Number(balance.quotas.video),
    },
    plan: period === null ? null : { name: period.planName, expires_at: period.endsAt.toISOString() },
  };
}

const bucketSchema = Type.Object({
  object: Type.Literal("bucket"),
  kind: Type.Enum(["cash", "gift", "quota"]),
  unit: Type.Enum(["money", "text", "image", "video"], {
    description: "What its amounts are in: money, or the tokens, images or seconds of a quota.",
  }),
  balance: Type.String({ examples: ["2.50", "1200"], description: "What is in it, with what is frozen of it." }),
  frozen: Type.String({ examples: ["0.00"], description: "What of it is on hold." }),
  expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "When what is left of it expires.",
  }),
});

export const bucketListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(bucketSchema),
  has_more: Type.Boolean(),
});

export function presentBucket({ kind, unit, posted, held, expiresAt }: Bucket): Static<typeof bucketSchema> {
  return {
    object: "bucket",
    kind,
    unit,
    balance: presentAmount(unit, posted),
    frozen: presentAmount(unit, held),
    expires_at: expiresAt?.toISOString() ?? null,
  };
}
