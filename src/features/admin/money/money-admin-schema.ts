import { type Static, Type } from "typebox";
import { type Nano, nano, presentMoney } from "../../../lib/money.ts";
import {
  type BatchUse,
  type Clawback,
  computeDebt,
  presentAmount,
  type RedeemCode,
  type Unit,
} from "../../ledger/index.ts";
import { type Checkout, checkoutOrigins, checkoutStates, fromMinor, type Reversal } from "../../payments/index.ts";
import { createPageSchema, listFields, moneySchema } from "../../usage/index.ts";
import { momentField } from "../edge/moment-field.ts";
import { type CreditEntry, creditKinds, type Stop } from "./money-admin-store.ts";
import { type Verification, verificationScopes, verificationStates } from "./verification-store.ts";

const time = Type.String({ format: "date-time" });
const maybeTime = Type.Union([time, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);
const money = moneySchema("In the service's currency.");

const accountField = Type.Optional(
  Type.String({ pattern: "^acct_[0-9a-z]{1,64}$", description: "Only of this account." }),
);
export const fromField = momentField("Only from this time on.");
export const toField = momentField("Only before this time.");

export const paymentQuerySchema = Type.Object(
  {
    account_id: accountField,
    state: Type.Optional(Type.Enum([...checkoutStates])),
    origin: Type.Optional(
      Type.Enum([...checkoutOrigins], {
        description: "`page`: a checkout. `automatic`: a top-up of a saved card. `external`: another provider's event.",
      }),
    ),
    from: fromField,
    to: toField,
    ...listFields("^chk_[0-9a-z]{1,64}$"),
  },
  { additionalProperties: false },
);

const paymentFields = {
  object: Type.Literal("payment"),
  id: Type.String(),
  account_id: Type.String(),
  email: maybeText,
  amount: money,
  refunded: money,
  currency: Type.String(),
  state: Type.Enum([...checkoutStates]),
  origin: Type.Enum([...checkoutOrigins]),
  note: maybeText,
  provider_payment_id: maybeText,
  created_at: time,
  ended_at: maybeTime,
  disputed_at: maybeTime,
};

export const paymentListSchema = createPageSchema(Type.Object(paymentFields));

const reversalFields = {
  object: Type.Literal("reversal"),
  id: Type.String({ description: "The provider's id." }),
  payment_id: Type.String(),
  kind: Type.Enum(["refund", "dispute"]),
  status: Type.String({ description: "The provider's word." }),
  amount: money,
  reason: maybeText,
  clawed_back: Type.String({ description: "What the ledger took back." }),
  waived: money,
  owed: Type.String({ description: "What is still missing." }),
};

export const paymentSchema = Type.Object({
  ...paymentFields,
  can_refund: Type.Boolean({ description: "Whether it can be refunded from here." }),
  reversals: Type.Array(Type.Object(reversalFields)),
});

export const reversalQuerySchema = Type.Object(
  { kind: Type.Optional(Type.Enum(["refund", "dispute"])), ...listFields("^[0-9]{1,18}$") },
  { additionalProperties: false },
);

export const reversalListSchema = createPageSchema(
  Type.Object({ ...reversalFields, account_id: Type.String(), email: maybeText, created_at: time }),
);

export function presentPayment(
  checkout: Checkout,
  email: string | null,
): Static<typeof paymentListSchema>["data"][number] {
  const { currency } = checkout;
  return {
    object: "payment",
    id: checkout.id,
    account_id: checkout.accountId,
    email,
    amount: presentMoney(checkout.amount),
    refunded: presentMoney(fromMinor(checkout.refundedMinor, currency)),
    currency,
    state: checkout.state,
    origin: checkout.origin,
    note: checkout.note,
    provider_payment_id: checkout.paymentId,
    created_at: checkout.createdAt.toISOString(),
    ended_at: checkout.endedAt?.toISOString() ?? null,
    disputed_at: checkout.disputedAt?.toISOString() ?? null,
  };
}

export function presentReversal(
  { id, kind, status, amountMinor, reason }: Reversal,
  { checkout, clawback }: { checkout: Checkout; clawback: Clawback | null },
) {
  return {
    object: "reversal" as const,
    id,
    payment_id: checkout.id as string,
    kind,
    status,
    amount: presentMoney(fromMinor(amountMinor, checkout.currency)),
    reason,
    clawed_back: presentMoney(clawback?.taken ?? nano(0n)),
    waived: presentMoney(clawback?.waived ?? nano(0n)),
    owed: presentMoney(clawback === null ? nano(0n) : computeDebt(clawback)),
  };
}

export const entryQuerySchema = Type.Object(
  {
    account_id: accountField,
    kind: Type.Optional(Type.Enum([...creditKinds])),
    from: fromField,
    to: toField,
    ...listFields("^[0-9]{1,18}\\.[0-9]{1,18}$"),
  },
  { additionalProperties: false },
);

export const entryListSchema = createPageSchema(
  Type.Object({
    object: Type.Literal("credit_entry"),
    id: Type.String({ description: "The transaction." }),
    account_id: Type.String(),
    email: maybeText,
    kind: Type.Enum([...creditKinds]),
    unit: Type.Enum(["money", "text", "image", "video"]),
    amount: Type.String({ description: "In its unit. Negative if it lowered the customer's credit." }),
    channel: maybeText,
    refund_of: maybeText,
    cause: Type.Object({ kind: Type.String(), id: Type.String() }),
    created_at: time,
  }),
);

export function presentCreditEntry(entry: CreditEntry): Static<typeof entryListSchema>["data"][number] {
  const unit = entry.unit as Unit;
  const size = presentAmount(unit, entry.amount < 0n ? -entry.amount : entry.amount);
  return {
    object: "credit_entry",
    ...{ id: entry.id, account_id: entry.accountId, email: entry.email, kind: entry.kind, unit },
    amount: entry.amount < 0n ? `-${size}` : size,
    ...{ channel: entry.channel, refund_of: entry.refundOf, cause: entry.cause },
    created_at: entry.createdAt.toISOString(),
  };
}

const sums = {
  sold: money,
  given: money,
  refunded: money,
  reversed: money,
  expired: money,
  adjusted: money,
  revenue: money,
  cost: money,
  calls: Type.Integer(),
};

export const revenueQuerySchema = Type.Object(
  {
    by: Type.Optional(Type.Enum(["day", "month"], { default: "day" })),
    from: Type.Optional(
      Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}$",
        description: "The first day. Default: 30 days or 12 months back.",
      }),
    ),
    to: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "The last day. Default: today." })),
  },
  { additionalProperties: false },
);

export const revenueSchema = Type.Object({
  object: Type.Literal("list"),
  time_zone: Type.String(),
  currency: Type.String(),
  data: Type.Array(
    Type.Object({
      from: time,
      to: time,
      ...sums,
      liability: Type.String({ description: "What all customers had at the end: the credit that is not yet earned." }),
    }),
    { description: "Newest first." },
  ),
});

export const verificationSchema = Type.Object({
  object: Type.Literal("ledger_verification"),
  id: Type.String(),
  scope: Type.Enum([...verificationScopes]),
  state: Type.Enum([...verificationStates]),
  asked_by: Type.String(),
  asked_at: time,
  started_at: maybeTime,
  ended_at: maybeTime,
  accounts: Type.Union([Type.Integer(), Type.Null()]),
  entries: Type.Union([Type.Integer(), Type.Null()]),
  violation_count: Type.Integer(),
  violations: Type.Array(Type.Object({ invariant: Type.String(), account_id: Type.String(), message: Type.String() }), {
    description: "The first 20. Their accounts are frozen for spending.",
  }),
});

export const verificationListSchema = createPageSchema(verificationSchema);
export const verificationQuerySchema = Type.Object(listFields("^ver_[0-9a-z]{1,64}$"), { additionalProperties: false });
export const newVerificationSchema = Type.Object(
  {
    scope: Type.Optional(
      Type.Enum([...verificationScopes], {
        default: "new",
        description: "`new`: entries since the last check. `whole`: all entries and holds; may take an hour.",
      }),
    ),
  },
  { additionalProperties: false },
);

export function presentVerification(check: Verification): Static<typeof verificationSchema> {
  return {
    object: "ledger_verification",
    ...{ id: check.id, scope: check.scope, state: check.state, asked_by: check.askedBy },
    asked_at: check.askedAt.toISOString(),
    started_at: check.startedAt?.toISOString() ?? null,
    ended_at: check.endedAt?.toISOString() ?? null,
    accounts: check.accounts === null ? null : Number(check.accounts),
    entries: check.entries === null ? null : Number(check.entries),
    violation_count: check.violationCount,
    violations: check.violations.map(({ invariant, accountId, message }) => ({
      ...{ invariant, account_id: accountId, message },
    })),
  };
}

export const stopQuerySchema = Type.Object(listFields("^acct_[0-9a-z]{1,64}$"), { additionalProperties: false });

export const stopListSchema = createPageSchema(
  Type.Object({
    object: Type.Literal("frozen_account"),
    id: Type.String(),
    email: Type.String(),
    kind: Type.Enum(["invariant", "debt"]),
    reason: Type.String(),
    owed: money,
    payment_id: Type.Union([Type.String(), Type.Null()], { description: "The reversed payment." }),
    since: time,
  }),
);

export function presentStop(stop: Stop): Static<typeof stopListSchema>["data"][number] {
  return {
    object: "frozen_account",
    ...{ id: stop.accountId, email: stop.email, kind: stop.kind, reason: stop.reason },
    ...{ owed: presentMoney(stop.owed), payment_id: stop.causeId, since: stop.at.toISOString() },
  };
}

const batchFields = {
  object: Type.Literal("code_batch"),
  id: Type.String(),
  kind: Type.Enum(["cash", "gift"]),
  amount: money,
  currency: Type.String(),
  gift_days: Type.Union([Type.Integer(), Type.Null()]),
  note: Type.String(),
  codes: Type.Integer(),
  redeemed: Type.Integer(),
  revoked: Type.Integer(),
  created_by: Type.String(),
  created_at: time,
  expires_at: maybeTime,
};

export const batchListSchema = createPageSchema(Type.Object(batchFields));
export const newBatchSchema = Type.Object({
  ...batchFields,
  texts: Type.Array(Type.String(), { description: "Returned only here: the database has their hashes." }),
});

export function presentBatch(batch: BatchUse): Static<typeof batchListSchema>["data"][number] {
  return {
    object: "code_batch",
    ...{ id: batch.id, kind: batch.kind, amount: presentMoney(batch.amount), currency: batch.currency },
    ...{
      gift_days: batch.giftDays,
      note: batch.note,
      codes: batch.codes,
      redeemed: batch.redeemed,
      revoked: batch.voided,
    },
    ...{ created_by: batch.createdBy, created_at: batch.createdAt.toISOString() },
    expires_at: batch.expiresAt?.toISOString() ?? null,
  };
}

export const codeSchema = Type.Object({
  object: Type.Literal("code"),
  id: Type.String(),
  batch_id: maybeText,
  preview: Type.String(),
  kind: Type.Enum(["cash", "gift"]),
  amount: money,
  state: Type.Enum(["open", "redeemed", "revoked", "expired"]),
  redeemed_by: maybeText,
  redeemed_at: maybeTime,
  created_at: time,
});

export const codeListSchema = createPageSchema(codeSchema);
export const codeQuerySchema = Type.Object(
  {
    batch_id: Type.Optional(Type.String({ pattern: "^batch_[0-9a-z]{1,64}$" })),
    ...listFields("^code_[0-9a-z]{1,64}$"),
  },
  { additionalProperties: false },
);

export function presentCode(code: RedeemCode, now: Date): Static<typeof codeSchema> {
  const isExpired = code.expiresAt !== null && code.expiresAt <= now;
  const open = isExpired ? "expired" : "open";
  return {
    object: "code",
    ...{ id: code.id, batch_id: code.batchId, preview: `…${code.lastFour}`, kind: code.kind },
    amount: presentMoney(code.amount),
    state: code.redeemedAt !== null ? "redeemed" : code.voidedAt !== null ? "revoked" : open,
    redeemed_by: code.redeemedBy,
    redeemed_at: code.redeemedAt?.toISOString() ?? null,
    created_at: code.createdAt.toISOString(),
  };
}

export function presentSums(sum: Record<Exclude<keyof typeof sums, "calls">, Nano> & { calls: bigint }) {
  const { calls, ...amounts } = sum;
  const entries = Object.entries(amounts)
    .filter(([name]) => name in sums)
    .map(([name, amount]) => [name, presentMoney(amount)]);
  return { ...(Object.fromEntries(entries) as Record<keyof typeof amounts, string>), calls: Number(calls) };
}
