import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { stopTopUp } from "./cards/stop-top-up.ts";
import { findCheckoutByPayment, lockCheckout } from "./checkout-store.ts";
import { clawBackCheckout } from "./claw-back-checkout.ts";
import { documentCheckout } from "./document-checkout.ts";
import { isInEffect, mergeReversal, type StripeReversal } from "./reversal.ts";
import { listReversals, putReversal } from "./reversal-store.ts";
import type { StripeClient } from "./stripe-client.ts";

export type PaymentDependencies = { database: Database; clock: Clock; logger: Logger; stripe: StripeClient };

/** Stores a refund or dispute and claws back or restores the payment's credit in one transaction. */
export async function applyReversal(
  { database, clock, logger, stripe }: PaymentDependencies,
  reported: StripeReversal,
): Promise<void> {
  const { paymentId } = reported;
  // The reversal's event may arrive before the payment's; then only Stripe knows the checkout.
  const checkoutId =
    (await findCheckoutByPayment(database, paymentId))?.id ?? (await stripe.findPaymentCheckout(paymentId));
  if (checkoutId === null) return;
  const now = clock.now();
  const checkout = await database.transaction().execute(async (tx) => {
    const locked = await lockCheckout(tx, checkoutId);
    if (locked === null || (locked.paymentId !== null && locked.paymentId !== paymentId)) return null;
    const known = (await listReversals(tx, [locked.id])).find(({ id }) => id === reported.id) ?? null;
    // An amount in another currency cannot be converted: reverse the whole payment.
    const amountMinor = reported.currency === locked.currency ? reported.amountMinor : locked.amountMinor;
    const reversal = mergeReversal(known, { ...reported, amountMinor });
    if (reversal === null) return null;
    await putReversal(tx, locked.id, { reversal, now });
    await clawBackCheckout(tx, locked, now);
    // The balance falls with the payment: a top-up would charge the card that was just refunded or disputed.
    if (isInEffect(reversal)) await stopTopUp(tx, { checkout: locked, reason: "reversed", now });
    await documentCheckout(tx, locked, now);
    return locked;
  });
  const fields = { payment: paymentId, reversal: reported.id, kind: reported.kind, status: reported.status };
  if (checkout === null) return logger.warn(fields, "refund or dispute ignored: no matching payment or unknown status");
  logger.warn({ ...fields, checkout_id: checkout.id, account_id: checkout.accountId }, "payment reversed");
}
