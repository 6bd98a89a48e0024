import { type Static, Type } from "typebox";
import type { LimitSet } from "../../../lib/limit-set.ts";
import { type Nano, nano, presentMoney } from "../../../lib/money.ts";
import { type Account, type ApiKey, findKeyKind, keyKinds, keyPrefix, type Plan } from "../../accounts/index.ts";
import { presentAmount, type readBalance } from "../../ledger/index.ts";
import { type ChargeRecord, createPageSchema, listFields, moneySchema } from "../../usage/index.ts";
import { momentField } from "../edge/moment-field.ts";
import { reasonField } from "../edge/reason.ts";
import { type AccountStatus, accountStatuses, type ListedAccount, type Member } from "./account-view-store.ts";

const time = Type.String({ format: "date-time" });
const maybeTime = Type.Union([time, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);
const money = moneySchema("In the service's currency.");

const accountIdPattern = "^acct_[0-9a-z]{1,64}$";

export const accountQuerySchema = Type.Object(
  {
    q: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: "^[^\\0]*$",
        description: "A part of the e-mail address, or the beginning of the id.",
      }),
    ),
    plan: Type.Optional(
      Type.String({
        maxLength: 64,
        pattern: "^[^\\0]*$",
        description: "A plan's id; `none` for accounts without a plan.",
      }),
    ),
    status: Type.Optional(Type.Enum([...accountStatuses])),
    ...listFields(accountIdPattern),
  },
  { additionalProperties: false },
);

const listedAccountSchema = Type.Object({
  object: Type.Literal("account"),
  id: Type.String(),
  email: Type.String(),
  plan: maybeText,
  status: Type.Enum([...accountStatuses], {
    description: "`frozen`: a ledger invariant failed, or a payment was reversed and is owed.",
  }),
  available_balance: money,
  created_at: time,
});

export const accountListSchema = createPageSchema(listedAccountSchema);

const limit = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Null()], { description });

const limitFields = {
  requests_per_minute: limit("`null`: the plan's."),
  tokens_per_minute: limit("`null`: the plan's."),
  concurrent_requests: limit("`null`: the plan's."),
  tasks_in_flight: limit("`null`: the plan's."),
};

const memberSchema = Type.Object({
  user_id: Type.String(),
  email: Type.String(),
  name: maybeText,
  is_email_verified: Type.Boolean(),
  has_password: Type.Boolean(),
  has_totp: Type.Boolean(),
  passkey_count: Type.Integer(),
  last_seen_at: maybeTime,
  created_at: time,
});

export const accountSchema = Type.Object({
  ...listedAccountSchema.properties,
  time_zone: Type.String(),
  suspended_at: maybeTime,
  closed_at: maybeTime,
  frozen_reason: maybeText,
  balance: Type.Object({
    available: money,
    on_hold: money,
    cash: money,
    gift: money,
    owed: money,
    quotas: Type.Object({ text: Type.Integer(), image: Type.Integer(), video: Type.Integer() }),
  }),
  currency: Type.String(),
  plan_name: maybeText,
  plan_ends_at: maybeTime,
  limits: Type.Object(limitFields, { description: "The account's own limits." }),
  applied_limits: Type.Object({
    requests_per_minute: Type.Integer(),
    tokens_per_minute: Type.Integer(),
    concurrent_requests: Type.Integer(),
    tasks_in_flight: Type.Integer(),
  }),
  members: Type.Array(memberSchema),
});

export const accountChangeSchema = Type.Object(
  {
    plan: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()], { description: "`null`: no plan." })),
    limits: Type.Optional(Type.Partial(Type.Object(limitFields), { additionalProperties: false })),
    reason: reasonField,
  },
  { additionalProperties: false },
);

const referenceField = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: "^[^\\0]*$",
    description: "An idempotency reference, such as a payment or case number. The same reference is booked once.",
  }),
);
const amountField = (description: string) => Type.String({ maxLength: 40, examples: ["10.00"], description });

export const creditSchema = Type.Object(
  {
    kind: Type.Enum(["top_up", "grant", "adjust"], {
      description: "`top_up`: a payment of the owner. `grant`: a gift. `adjust`: a correction, also down.",
    }),
    amount: amountField("A decimal, or for a grant of a quota a whole number. Only `adjust` may be negative."),
    unit: Type.Optional(
      Type.Enum(["money", "text", "image", "video"], { description: "Only for a `grant`. Default: `money`." }),
    ),
    expires_at: momentField("Only for a `grant`. Default: never."),
    reason: reasonField,
    reference: referenceField,
  },
  { additionalProperties: false },
);

export const refundSchema = Type.Object(
  {
    charge_id: Type.String({ pattern: "^txn_[0-9a-z]{1,64}$" }),
    amount: amountField("At most what was not refunded yet, in the charge's unit."),
    reason: reasonField,
    reference: referenceField,
  },
  { additionalProperties: false },
);

export const bookingSchema = Type.Object({
  object: Type.Literal("booking"),
  id: Type.String({ description: "The transaction." }),
  replayed: Type.Boolean({ description: "The reference was booked before; nothing changed." }),
  available_balance: money,
});

export const keyListSchema = createPageSchema(
  Type.Object({
    object: Type.Literal("api_key"),
    id: Type.String(),
    name: Type.String(),
    kind: Type.Enum([...keyKinds]),
    preview: maybeText,
    created_at: time,
    last_used_at: maybeTime,
    expires_at: maybeTime,
    revoked_at: maybeTime,
    budget: Type.Union([Type.Object({ amount: money, period: Type.String() }), Type.Null()]),
  }),
);

export const keyQuerySchema = Type.Object(listFields("^key_[0-9a-z]{1,64}$"), { additionalProperties: false });

export const chargeQuerySchema = Type.Object(listFields("^txn_[0-9a-z.]{1,80}$"), { additionalProperties: false });

export const chargeListSchema = createPageSchema(
  Type.Object({
    object: Type.Literal("charge"),
    id: Type.String(),
    model: maybeText,
    unit: Type.Enum(["money", "text", "image", "video"]),
    amount: Type.String({ description: "In its unit." }),
    refunded: Type.String({ description: "In its unit." }),
    cause: Type.Object({ kind: Type.String(), id: Type.String() }),
    created_at: time,
  }),
);

export const planListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
});

export function presentListedAccount(account: ListedAccount, available: Nano): Static<typeof listedAccountSchema> {
  return {
    object: "account",
    id: account.id,
    email: account.email,
    plan: account.planId,
    status: account.status,
    available_balance: presentMoney(available),
    created_at: account.createdAt.toISOString(),
  };
}

export type AccountFacts = {
  status: AccountStatus;
  closedAt: Date | null;
  frozenReason: string | null;
  owed: Nano;
  plan: Plan | null;
  limits: LimitSet;
  members: readonly Member[];
  currency: string;
} & Awaited<ReturnType<typeof readBalance>>;

export function presentAccount(account: Account, facts: AccountFacts): Static<typeof accountSchema> {
  const { balance, period, plan, limits } = facts;
  const { planId, status } = { planId: account.planId, status: facts.status };
  return {
    ...presentListedAccount({ ...account, planId, status }, balance.available),
    time_zone: account.timeZone,
    suspended_at: account.suspendedAt?.toISOString() ?? null,
    closed_at: facts.closedAt?.toISOString() ?? null,
    frozen_reason: facts.frozenReason,
    balance: {
      available: presentMoney(balance.available),
      on_hold: presentMoney(balance.frozen),
      cash: presentMoney(balance.cash),
      gift: presentMoney(balance.gift),
      owed: presentMoney(facts.owed),
      quotas: {
        text: Number(balance.quotas.text),
        image: Number(balance.quotas.image),
        video: Number(balance.quotas.video),
      },
    },
    currency: facts.currency,
    plan_name: plan?.name ?? null,
    plan_ends_at: period?.endsAt.toISOString() ?? null,
    limits: {
      requests_per_minute: account.limits.requestsPerMinute ?? null,
      tokens_per_minute: account.limits.tokensPerMinute ?? null,
      concurrent_requests: account.limits.concurrentRequests ?? null,
      tasks_in_flight: account.limits.tasksInFlight ?? null,
    },
    applied_limits: {
      requests_per_minute: limits.requestsPerMinute,
      tokens_per_minute: limits.tokensPerMinute,
      concurrent_requests: limits.concurrentRequests,
      tasks_in_flight: limits.tasksInFlight,
    },
    members: facts.members.map(presentMember),
  };
}

function presentMember(member: Member): Static<typeof memberSchema> {
  return {
    user_id: member.userId,
    email: member.email,
    name: member.name,
    is_email_verified: member.isEmailVerified,
    has_password: member.hasPassword,
    has_totp: member.hasTotp,
    passkey_count: member.passkeyCount,
    last_seen_at: member.lastSeenAt?.toISOString() ?? null,
    created_at: member.createdAt.toISOString(),
  };
}

export function presentAccountKey(key: ApiKey, lastUsedAt: Date | null) {
  const kind = findKeyKind(key);
  return {
    object: "api_key" as const,
    id: key.id as string,
    name: key.name,
    kind,
    preview: kind === "console" ? null : `${keyPrefix}…${key.lastFour}`,
    created_at: key.createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    budget: key.budget === null ? null : { amount: presentMoney(nano(key.budget.amount)), period: key.budget.period },
  };
}

export function presentAccountCharge(charge: ChargeRecord, refunded: bigint) {
  return {
    object: "charge" as const,
    id: charge.id,
    model: charge.model,
    unit: charge.unit,
    amount: presentAmount(charge.unit, charge.paid),
    refunded: presentAmount(charge.unit, refunded),
    cause: { kind: charge.cause.kind as string, id: charge.cause.id },
    created_at: charge.createdAt.toISOString(),
  };
}
