import type { AccountId } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type Nano, presentMoney } from "../../../lib/money.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit } from "../../audit/index.ts";
import {
  type BatchUse,
  createCodes,
  findFreeze,
  findViolations,
  listBatches,
  type RedeemCode,
  requireLedgerCurrency,
  unfreezeWallet,
  voidBatchCodes,
  voidCode,
  waiveDebts,
} from "../../ledger/index.ts";
import { type Checkout, findCheckout } from "../../payments/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";

type Explained = { acting: Acting; reason: string };

/** Refunds a payment at Stripe. The intent is audited before Stripe is called, the refund with the credit's clawback. */
export async function refundPaymentAsOperator(
  { database, refundPayment }: Pick<AdminDependencies, "database" | "refundPayment">,
  { acting, reason: text, ...asked }: Explained & { id: string; amount: Nano | null; reference: string },
): Promise<Checkout> {
  const reason = requireReason(text);
  const append = (tx: Database, checkout: Checkout, done: { action: string; after: Record<string, unknown> }) =>
    appendAudit(tx, { ...acting, ...done, subject: checkout.id, accountId: checkout.accountId, reason, before: null });
  return await refundPayment({
    checkoutId: asked.id,
    amount: asked.amount,
    reference: asked.reference,
    recordIntent: (checkout, amount) =>
      inTransaction(database, (tx) =>
        append(tx, checkout, { action: "payment.refund_asked", after: { amount: presentMoney(amount) } }),
      ),
    record: (tx, checkout, { id, amount }) =>
      append(tx, checkout, { action: "payment.refunded", after: { amount: presentMoney(amount), refund: id } }),
  });
}

/** Waives what is owed for a reversed payment, so that its account can spend again. */
export async function waiveDebtAsOperator(
  { database, clock, ids }: Pick<AdminDependencies, "database" | "clock" | "ids">,
  { id, acting, reason: text }: Explained & { id: string },
): Promise<Nano> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const checkout = await findCheckout(tx, { id });
    if (checkout === null) throw new AppError("not_found", "There is no such payment.", { param: "payment_id" });
    const request = { causeId: id, actor: nameActor(acting.actor), reason };
    const waived = await waiveDebts({ database: tx, clock, ids }, request);
    await appendAudit(tx, {
      ...{ ...acting, action: "payment.debt_waived", subject: id, accountId: checkout.accountId, reason },
      ...{ before: null, after: { waived: presentMoney(waived) } },
    });
    return waived;
  });
}

/** Unfreezes an account whose invariants hold now. Throws if they do not. */
export async function unfreezeAsOperator(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { accountId, acting, reason: text }: Explained & { accountId: AccountId },
): Promise<void> {
  const reason = requireReason(text);
  const now = clock.now();
  const [violation] = await findViolations(database, { kind: "whole", accountIds: [accountId], now });
  if (violation !== undefined) {
    const message = `Invariant ${violation.invariant} does not hold: ${violation.message}. Find the cause first.`;
    throw new AppError("invalid_parameter", message, { param: "account_id" });
  }
  await inTransaction(database, async (tx) => {
    const freeze = await findFreeze(tx, accountId);
    if (freeze === null || !(await unfreezeWallet(tx, accountId))) {
      throw new AppError("invalid_parameter", "No invariant froze this account. Waive its debts at the payment.", {
        param: "account_id",
      });
    }
    await appendAudit(tx, {
      ...{ ...acting, action: "account.unfrozen", subject: accountId, accountId, reason },
      ...{ before: { reason: freeze.reason }, after: null },
    });
  });
}

type NewBatch = Pick<RedeemCode, "kind" | "amount" | "giftDays" | "note" | "expiresAt"> & { count: number };

/** Creates codes. Their texts are returned once and stored nowhere, also not in the audit log. */
export async function createBatchAsOperator(
  { database, clock, ids, randomBytes, currency }: AdminDependencies,
  { acting, reason: text, ...terms }: Explained & NewBatch,
): Promise<{ batch: BatchUse; texts: string[] }> {
  const reason = requireReason(text);
  await requireLedgerCurrency(database, currency);
  return await inTransaction(database, async (tx) => {
    const request = { ...terms, createdBy: nameActor(acting.actor) };
    const created = await createCodes({ database: tx, clock, ids, randomBytes, currency }, request);
    const [batch] = await listBatches(tx, { id: created[0]?.code.batchId ?? "", limit: 1 });
    invariant(batch !== undefined, "the codes have no batch");
    const { codes, amount, kind } = batch;
    await appendAudit(tx, {
      ...{ ...acting, action: "codes.created", subject: batch.id, accountId: null, reason },
      ...{ before: null, after: { codes, amount: presentMoney(amount), kind } },
    });
    return { batch, texts: created.map((code) => code.text) };
  });
}

/** Voids the unused codes of a batch. Returns how many. */
export async function revokeBatchAsOperator(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { id, acting, reason: text }: Explained & { id: string },
): Promise<number> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const [batch] = await listBatches(tx, { id, limit: 1 });
    if (batch === undefined) throw new AppError("not_found", "There is no such batch.", { param: "batch_id" });
    const voided = await voidBatchCodes(tx, id, clock.now());
    if (voided === 0) return 0;
    await appendAudit(tx, {
      ...{ ...acting, action: "codes.revoked", subject: id, accountId: null, reason },
      ...{ before: { voided: batch.voided }, after: { voided: batch.voided + voided } },
    });
    return voided;
  });
}

export async function revokeCodeAsOperator(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { id, acting, reason: text }: Explained & { id: string },
): Promise<RedeemCode> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const code = await voidCode({ database: tx, clock }, id);
    await appendAudit(tx, {
      ...{ ...acting, action: "code.revoked", subject: id, accountId: null, reason },
      ...{ before: null, after: { batch: code.batchId } },
    });
    return code;
  });
}
