import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { bookTopUp } from "../ledger/index.ts";
import type { PaymentDependencies } from "./apply-reversal.ts";
import { stopTopUp } from "./cards/stop-top-up.ts";
import { type Checkout, nameTransaction } from "./checkout.ts";
import { lockCheckout, updateCheckout } from "./checkout-store.ts";
import { clawBackCheckout } from "./claw-back-checkout.ts";
import { type CheckoutStep, decideCheckout } from "./decide-checkout.ts";
import { documentCheckout } from "./document-checkout.ts";
import type { StripeSession } from "./stripe-event.ts";

type Outcome = { step: CheckoutStep; checkout: Checkout | null };

/** Applies a session's state under the lock of its checkout: the credit and the new state commit together. */
export async function applySession(
  { database, clock, logger }: Omit<PaymentDependencies, "stripe">,
  session: StripeSession,
): Promise<void> {
  const { checkoutId } = session;
  const now = clock.now();
  const outcome = await database.transaction().execute(async (tx): Promise<Outcome> => {
    const checkout = checkoutId === null ? null : await lockCheckout(tx, checkoutId);
    if (checkout === null) return { step: { kind: "nothing" }, checkout };
    return { step: await takeStep(tx, { checkout, session, now }), checkout };
  });
  logOutcome(logger, session, outcome);
}

type Step = { checkout: Checkout; session: StripeSession; now: Date };

/** Returns the step that was taken: a mismatch if the ledger rejects the credit. */
async function takeStep(tx: Database, { checkout, session, now }: Step): Promise<CheckoutStep> {
  const step = decideCheckout(checkout, session);
  const { sessionId, paymentId } = session;
  switch (step.kind) {
    case "credit": {
      const rejection = await credit(tx, checkout, now);
      if (rejection !== null) return await markMismatched(tx, { checkout, session, now }, rejection);
      await updateCheckout(tx, checkout.id, { state: "paid", endedAt: now, note: null, sessionId, paymentId });
      const paid: Checkout = { ...checkout, state: "paid", endedAt: now };
      await clawBackCheckout(tx, paid, now);
      await documentCheckout(tx, paid, now);
      return step;
    }
    case "mismatch":
      return await markMismatched(tx, { checkout, session, now }, step.note);
    case "complete":
      await updateCheckout(tx, checkout.id, { completedAt: now, sessionId, paymentId });
      return step;
    case "end":
      await updateCheckout(tx, checkout.id, {
        ...{ state: step.state, endedAt: now, note: step.note },
        ...(checkout.origin === "automatic" ? { paymentId } : {}),
      });
      if (checkout.origin === "automatic") await stopTopUp(tx, { checkout, reason: "declined", now });
      return step;
    case "refuse":
    case "nothing":
      return step;
  }
}

/** Returns why the ledger rejected the credit, or `null`. */
async function credit(tx: Database, { id, accountId, amount }: Checkout, now: Date): Promise<string | null> {
  const cause = { kind: "payment" as const, id };
  const booking = { id: nameTransaction(id), accountId, amount, channel: "stripe", cause };
  const result = await bookTopUp(tx, booking, now);
  return result.kind === "booked" ? null : `The ledger rejected the credit: ${result.kind}.`;
}

async function markMismatched(tx: Database, { checkout, session, now }: Step, note: string): Promise<CheckoutStep> {
  const { sessionId, paymentId } = session;
  await updateCheckout(tx, checkout.id, { state: "mismatched", endedAt: now, note, sessionId, paymentId });
  // Without the credit, the balance stays low: the next run would charge the card again.
  if (checkout.origin === "automatic") await stopTopUp(tx, { checkout, reason: "review", now });
  return { kind: "mismatch", note };
}

function logOutcome(logger: Logger, session: StripeSession, { step, checkout }: Outcome): void {
  const { checkoutId, sessionId, outcome } = session;
  const fields = { checkout_id: checkoutId, account_id: checkout?.accountId ?? null, session: sessionId, outcome };
  switch (step.kind) {
    case "credit":
      logger.info(fields, "payment credited");
      break;
    case "mismatch":
      logger.error({ ...fields, note: step.note }, "payment not credited: does not match its checkout");
      break;
    case "refuse":
      logger.error(fields, "payment not credited: the session is not the checkout's");
      break;
    case "complete":
    case "end":
      logger.info(fields, "checkout updated");
      break;
    case "nothing":
      logger.debug(fields, "Stripe session unchanged or unknown");
      break;
  }
}
