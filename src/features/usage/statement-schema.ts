import { type Static, Type } from "typebox";
import { invariant } from "../../lib/invariant.ts";
import { presentAmount, type StatementEntry } from "../ledger/index.ts";
import { describeItems } from "./describe-items.ts";
import {
  causeSchema,
  createPageSchema,
  entryIdPattern,
  holdIdPattern,
  listFields,
  toSeconds,
  unitSchema,
} from "./list-schema.ts";
import type { OpenHold } from "./open-hold-store.ts";
import { formatField, periodFields } from "./usage-schema.ts";

const amount = (description: string) => Type.String({ examples: ["-0.05", "1200"], description });
const maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const statementQuerySchema = Type.Object(
  { ...periodFields, ...listFields(entryIdPattern), format: formatField },
  { additionalProperties: false },
);

const entrySchema = Type.Object({
  object: Type.Literal("ledger.entry"),
  id: Type.String({ examples: ["txn_01kh2n8v7m3q5x9d4c6b8a0e2f:0"] }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  kind: Type.Enum(["charge", "refund", "top_up", "grant", "adjustment", "reversal", "expiry"]),
  unit: unitSchema,
  amount: amount("The amount that moved; negative if it was taken."),
  balance: amount("The balance of the unit afterwards, including holds."),
  bucket: Type.Object({
    kind: Type.Enum(["cash", "gift", "quota"]),
    balance: amount("The bucket's balance afterwards."),
    expires_at: maybe("When the rest of the bucket expires."),
  }),
  description: Type.String({ examples: ["sandbox-chat: 1,200 input tokens, 300 output tokens"] }),
  cause: causeSchema,
  charge_id: maybe("The charge, or the charge that it refunds."),
});

export const statementSchema = createPageSchema(entrySchema);

export const holdQuerySchema = Type.Object({ ...listFields(holdIdPattern) }, { additionalProperties: false });

const holdSchema = Type.Object({
  object: Type.Literal("hold"),
  id: Type.String({ examples: ["hold_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  amount: amount("The amount on hold."),
  unit: unitSchema,
  key_id: maybe("The API key that made the call."),
  cause: causeSchema,
  task_id: maybe("The task, if it is one."),
  model: maybe("The task's model."),
  opened: Type.Integer({ description: "Unix time in seconds." }),
  expires: Type.Integer({ description: "The latest time at which it is released." }),
});

export const holdListSchema = createPageSchema(holdSchema);

const descriptions: Record<StatementEntry["kind"], string> = {
  top_up: "Top-up",
  grant: "Gift",
  adjustment: "Correction",
  reversal: "Payment reversed",
  refund: "Refund",
  expiry: "Expired",
  charge: "Charge",
  loss: "Charge",
};
/** The cause describes credit better than the kind. */
const descriptionsByCause: Partial<Record<StatementEntry["cause"]["kind"], string>> = {
  payment: "Payment",
  code: "Redeemed code",
  plan: "Quota of the plan",
};

/** Why a payment's credit was clawed back or restored. */
const reversalDescriptions: Partial<Record<StatementEntry["cause"]["kind"], { taken: string; given: string }>> = {
  payment_refund: { taken: "Payment refunded", given: "Refund of a payment failed" },
  payment_dispute: { taken: "Payment disputed", given: "Dispute of a payment won" },
};

/** `models` maps price ids to models. */
export function presentEntry(entry: StatementEntry, models: ReadonlyMap<string, string>): Static<typeof entrySchema> {
  const { transactionId, leg, createdAt, kind, unit, bucket, cause } = entry;
  invariant(kind !== "loss" && bucket !== null, `${transactionId} is a loss`);
  const present = (value: bigint): string => presentAmount(unit, value);
  return {
    object: "ledger.entry",
    id: `${transactionId}:${leg}`,
    created: toSeconds(createdAt),
    kind,
    unit,
    amount: present(entry.amount),
    balance: present(entry.balance),
    bucket: {
      kind: bucket.kind,
      balance: present(bucket.balance),
      expires_at: bucket.expiresAt?.toISOString() ?? null,
    },
    description: describeEntry(entry, models),
    cause,
    charge_id: kind === "charge" ? transactionId : entry.refundOf,
  };
}

function describeEntry({ kind, cause, bill, amount }: StatementEntry, models: ReadonlyMap<string, string>): string {
  const reversal = kind === "reversal" ? reversalDescriptions[cause.kind] : undefined;
  if (reversal !== undefined) return amount < 0n ? reversal.taken : reversal.given;
  const isCredit = kind === "top_up" || kind === "grant";
  if (bill === null) return (isCredit ? descriptionsByCause[cause.kind] : undefined) ?? descriptions[kind];
  const model = models.get(bill.priceId);
  return model === undefined ? describeItems(bill.items) : `${model}: ${describeItems(bill.items)}`;
}

export function presentHold(hold: OpenHold): Static<typeof holdSchema> {
  const { id, amount, unit, keyId, cause, model, openedAt, expiresAt } = hold;
  return {
    object: "hold",
    ...{ id, unit, cause, model },
    amount: presentAmount(unit, amount),
    key_id: keyId,
    task_id: cause.kind === "task" ? cause.id : null,
    opened: toSeconds(openedAt),
    expires: toSeconds(expiresAt),
  };
}
