import { hash } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource, TransactionId } from "../../lib/ids.ts";
import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { applyWithin } from "./apply-within.ts";
import { computeDebt } from "./claw-back.ts";
import { listClawbacks, putClawback } from "./clawback-store.ts";
import type { Unit } from "./ledger-state.ts";
import { insertOperatorAction, lockWallets } from "./ledger-store.ts";
import type { AdjustOperation, GrantOperation, RefundOperation, ResultOf, TopUpOperation } from "./operation.ts";

type Booking =
  | { kind: "top-up"; amount: Nano }
  | { kind: "grant"; unit: Unit; amount: bigint; expiresAt: Date | null }
  | { kind: "adjust"; amount: Nano }
  | { kind: "refund"; chargeId: TransactionId; amount: bigint };

export type CreditRequest = {
  accountId: AccountId;
  booking: Booking;
  /** Both are recorded. */
  actor: string;
  reason: string;
  /** An external payment or case number. Requests with the same reference are booked once. */
  reference: string | null;
};

type BookingOperation = TopUpOperation | GrantOperation | AdjustOperation | RefundOperation;

/** Books an operator's decision together with the record of who made it. */
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

/** Waives a payment's debts together with the record of who decided it. Returns the waived amount. */
export async function waiveDebts(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
  { causeId, actor, ...request }: { causeId: string; actor: string; reason: string },
): Promise<Nano> {
  const reason = requireReason(request.reason);
  const now = clock.now();
  return await inTransaction(database, async (tx) => {
    const accountIds = new Set((await listClawbacks(tx, causeId)).map(({ accountId }) => accountId));
    await lockWallets(tx, [...accountIds]);
    const debts = (await listClawbacks(tx, causeId)).filter((clawback) => computeDebt(clawback) > 0n);
    if (debts.length === 0) throw new AppError("not_found", `Nothing is owed for ${causeId}.`);
    for (const debt of debts) await putClawback(tx, { ...debt, waived: nano(debt.owed - debt.taken) }, now);
    await insertOperatorAction(tx, { id: ids.next("act"), actor, action: "waive", reason, createdAt: now });
    return nano(debts.reduce((sum, debt) => sum + computeDebt(debt), 0n));
  });
}

function requireReason(text: string): string {
  const reason = text.trim();
  if (reason !== "" && reason.length <= 500) return reason;
  throw new AppError("invalid_parameter", "Give a reason of 1 to 500 characters.", { param: "reason" });
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
      return new AppError("invalid_parameter", "The balance would exceed its maximum.", {
        param: "amount",
      });
    case "already-expired":
      return new AppError("invalid_parameter", "A grant must expire in the future.", { param: "expires" });
    case "refused":
      return new AppError(
        "insufficient_balance",
        `The account's available cash is ${presentMoney(refusal.missing as Nano)} too low.`,
        { param: "amount" },
      );
    case "id-reused":
      return new AppError("idempotency_key_reused", "This reference was already used for another amount.", {
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
