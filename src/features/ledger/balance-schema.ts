import { type Static, Type } from "typebox";
import { presentMoney } from "../../lib/money.ts";
import type { Bucket } from "./ledger-state.ts";
import type { PlanPeriod } from "./plan-period.ts";
import { presentAmount } from "./present-statement-csv.ts";
import type { Balance } from "./read-balance.ts";

const amount = (description: string) => Type.String({ pattern: "^\\d+\\.\\d{2,9}$", examples: ["12.50"], description });
const quota = (description: string) => Type.Integer({ minimum: 0, description });

export const balanceSchema = Type.Object({
  object: Type.Literal("balance"),
  currency: Type.String({ description: "ISO 4217 code of all amounts." }),
  available_balance: amount("What you can spend: cash and gifts minus the amount on hold."),
  frozen_balance: amount("On hold for unfinished calls and tasks."),
  cash_balance: amount("Paid in, including the part on hold."),
  gift_balance: amount("Gifts, including the part on hold, without expired ones. Spent before cash."),
  quotas: Type.Object(
    { text: quota("Tokens."), image: quota("Images."), video: quota("Seconds.") },
    { description: "The rest of the plan's quotas." },
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
    description: "The unit of the amounts: money, or the tokens, images or seconds of a quota.",
  }),
  balance: Type.String({
    examples: ["2.50", "1200"],
    description: "The bucket's balance, including the part on hold.",
  }),
  frozen: Type.String({ examples: ["0.00"], description: "The part on hold." }),
  expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "When the rest of the bucket expires.",
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
