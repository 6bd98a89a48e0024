import { hash } from "node:crypto";
import type { Nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { applyReversal, type PaymentDependencies } from "./apply-reversal.ts";
import type { Checkout } from "./checkout.ts";
import { findCheckout } from "./checkout-store.ts";
import { isInEffect } from "./reversal.ts";
import { listReversals } from "./reversal-store.ts";
import { fromMinor, toMinor } from "./stripe-amount.ts";

export type RefundRequest = {
  checkoutId: string;
  /** `null`: what is left of the payment. */
  amount: Nano | null;
  /** The same reference refunds once. */
  reference: string;
  /** Called before Stripe is, so that the intent is recorded even if the gateway dies. */
  recordIntent(checkout: Checkout, amount: Nano): Promise<void>;
  /** Called in the transaction that claws the credit back. */
  record(tx: Database, checkout: Checkout, refund: { id: string; amount: Nano }): Promise<void>;
};

/**
 * Refunds a payment to the card and claws its credit back. If the outcome of Stripe's answer is lost, its event or the sweep
 * claws the credit back.
 */
export async function refundPayment(dependencies: PaymentDependencies, request: RefundRequest): Promise<Checkout> {
  const { database, stripe } = dependencies;
  const checkout = await getCheckout(database, request.checkoutId);
  const { paymentId, currency } = checkout;
  if (checkout.origin === "external" || paymentId === null) {
    throw new AppError(
      "invalid_parameter",
      "Another provider took this payment. Refund it there; its event claws the credit back.",
      { param: "payment_id" },
    );
  }
  const amountMinor = await decideAmount(database, checkout, request.amount);
  const amount = fromMinor(amountMinor, currency);
  await request.recordIntent(checkout, amount);
  // The reference may be any text; Stripe takes up to 255 characters.
  const reference = `refund ${hash("sha256", `${checkout.id}\n${request.reference}`, "hex")}`;
  const refund = await stripe.refund({ paymentId, amountMinor, reference }).catch(explainRefusal);
  await applyReversal(dependencies, refund, (tx) => request.record(tx, checkout, { id: refund.id, amount }));
  return await getCheckout(database, checkout.id);
}

async function decideAmount(database: Database, checkout: Checkout, asked: Nano | null): Promise<bigint> {
  const { currency, amountMinor, state } = checkout;
  if (state !== "paid") {
    throw new AppError("invalid_parameter", `The payment is ${state}. Only a paid one can be refunded.`, {
      param: "payment_id",
    });
  }
  const refunds = (await listReversals(database, [checkout.id])).filter(
    (reversal) => reversal.kind === "refund" && isInEffect(reversal),
  );
  const left = refunds.reduce((rest, refund) => rest - refund.amountMinor, amountMinor);
  const wanted = asked === null ? left : toMinor(asked, currency);
  if (wanted === null || wanted <= 0n) {
    throw new AppError("invalid_parameter", `The amount must be above zero, in ${currency} as Stripe counts it.`, {
      param: "amount",
    });
  }
  return wanted;
}

async function getCheckout(database: Database, id: string): Promise<Checkout> {
  const checkout = await findCheckout(database, { id });
  if (checkout === null) throw new AppError("not_found", "There is no such payment.", { param: "payment_id" });
  return checkout;
}

/** Stripe's own words name the mistake, such as a payment that was already refunded. */
function explainRefusal(error: unknown): never {
  const isRefusal = error instanceof Error && "statusCode" in error && error.statusCode === 400;
  if (!isRefusal) throw error;
  throw new AppError("invalid_parameter", `Stripe rejected the refund: ${error.message}`, {
    param: "amount",
    cause: error,
  });
}
