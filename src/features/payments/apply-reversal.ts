import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { findCheckoutByPayment, lockCheckout } from "./checkout-store.ts";
import { mergeReversal, type ToldReversal } from "./reversal.ts";
import { listReversals, putReversal } from "./reversal-store.ts";
import type { StripeClient } from "./stripe-client.ts";
import { takeBackCredit } from "./take-back-credit.ts";

/** What all that Stripe tells is done with. */
export type NewsDependencies = { database: Database; clock: Clock; logger: Logger; stripe: StripeClient };

/** Notes a refund or dispute and takes back the credit of its payment, or gives it again: all of it or nothing. */
export async function applyReversal(
  { database, clock, logger, stripe }: NewsDependencies,
  told: ToldReversal,
): Promise<void> {
  const { paymentId } = told;
  // It may be heard of before the payment is, and then only Stripe knows whose it is.
  const checkoutId =
    (await findCheckoutByPayment(database, paymentId))?.id ?? (await stripe.findPaymentCheckout(paymentId));
  if (checkoutId === null) return;
  const now = clock.now();
  const checkout = await database.transaction().execute(async (tx) => {
    const locked = await lockCheckout(tx, checkoutId);
    if (locked === null || (locked.paymentId !== null && locked.paymentId !== paymentId)) return null;
    const known = (await listReversals(tx, [locked.id])).find(({ id }) => id === told.id) ?? null;
    // In another currency nobody can say which part it is.
    const amountMinor = told.currency === locked.currency ? told.amountMinor : locked.amountMinor;
    const reversal = mergeReversal(known, { ...told, amountMinor });
    if (reversal === null) return null;
    await putReversal(tx, locked.id, { reversal, now });
    await takeBackCredit(tx, locked, now);
    return locked;
  });
  const fields = { payment: paymentId, reversal: told.id, kind: told.kind, status: told.status };
  if (checkout === null) return logger.warn(fields, "a refund or dispute fits no payment of ours and was not noted");
  logger.warn({ ...fields, checkout_id: checkout.id, account_id: checkout.accountId }, "a payment was reversed");
}
