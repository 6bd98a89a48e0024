import { hash } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource, TransactionId } from "../../lib/ids.ts";
import { type Nano, presentMoney } from "../../lib/money.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { applyWithin } from "./apply-within.ts";
import type { Unit } from "./ledger-state.ts";
import type { AdjustOperation, GrantOperation, RefundOperation, ResultOf, TopUpOperation } from "./operation.ts";
import { insertOperatorAction } from "./operator-action-store.ts";

type Booking =
  | { kind: "top-up"; amount: Nano }
  | { kind: "grant"; unit: Unit; amount: bigint; expiresAt: Date | null }
  | { kind: "adjust"; amount: Nano }
  | { kind: "refund"; chargeId: TransactionId; amount: bigint };

export type CreditRequest = {
  accountId: AccountId;
  booking: Booking;
  /** Who does it, and why: both are kept. */
  actor: string;
  reason: string;
  /** The number of a payment or case elsewhere: what has the same one is booked once, however often it is sent. */
  reference: string | null;
};

type BookingOperation = TopUpOperation | GrantOperation | AdjustOperation | RefundOperation;

/** Books what an operator decided, together with the record of who decided it. */
export async function bookCredit(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
  request: CreditRequest,
): Promise<{ transactionId: TransactionId; isReplay: boolean }> {
  const { actor, booking } = request;
  const reason = requireReason(request.reason);
  const now = clock.now();
  const transactionId = request.reference === null ? ids.next("txn") : deriveId(request, request.reference);
  const action = { id: ids.next("act"), actor, action: booking.kind, reason, createdAt: now };
  const cause = { kind: "operator" as const, id: action.id };
  const common = { id: transactionId, accountId: request.accountId, cause, channel: "operator" };
  const operation: BookingOperation = { ...common, ...booking };
  const result = await inTransaction(database, async (tx) => {
    const outcome = await applyWithin(tx, operation, now);
    if (outcome.kind === "booked" && !outcome.isReplay) await insertOperatorAction(tx, action);
    return outcome;
  });
  if (result.kind === "booked") return { transactionId, isReplay: result.isReplay };
  throw explainRefusal(result, request);
}

export function requireReason(text: string): string {
  const reason = text.trim();
  if (reason !== "" && reason.length <= 500) return reason;
  throw new AppError("invalid_parameter", "Say why, in 1 to 500 characters.", { param: "reason" });
}

function deriveId({ accountId, booking }: CreditRequest, reference: string): TransactionId {
  const digest = hash("sha256", `${booking.kind}\n${accountId}\n${reference}`, "hex");
  return `txn_${digest.slice(0, 32)}`;
}

type Refusal = Exclude<ResultOf<BookingOperation>, { kind: "booked" }>;

function explainRefusal(refusal: Refusal, { accountId }: CreditRequest): AppError {
  switch (refusal.kind) {
    case "no-such-account":
      return new AppError("not_found", `There is no account ${accountId}.`, { param: "account" });
    case "too-large":
      return new AppError("invalid_parameter", "The balance would be larger than a balance can be.", {
        param: "amount",
      });
    case "already-expired":
      return new AppError("invalid_parameter", "A grant expires in the future.", { param: "expires" });
    case "refused":
      return new AppError(
        "insufficient_balance",
        `The account has ${presentMoney(refusal.missing as Nano)} too little cash that is not frozen.`,
        { param: "amount" },
      );
    case "id-reused":
      return new AppError("idempotency_key_reused", "This reference was used for another amount already.", {
        param: "reference",
      });
    case "no-such-charge":
      return new AppError("not_found", "The account has no such charge.", { param: "charge" });
    case "over-charge":
      return new AppError(
        "invalid_parameter",
        `At most ${presentMoney(refusal.refundable as Nano)} of this charge can be refunded.`,
        { param: "amount" },
      );
  }
}
