import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { bookTopUp } from "../ledger/index.ts";
import { type Checkout, nameTransaction } from "./checkout.ts";
import { lockCheckout, updateCheckout } from "./checkout-store.ts";
import { type CheckoutStep, decideCheckout } from "./decide-checkout.ts";
import type { SessionReport } from "./session-report.ts";
import { takeBackCredit } from "./take-back-credit.ts";

type Outcome = { step: CheckoutStep; checkout: Checkout | null };

/** Does what follows from a report, under the lock of its checkout: the credit and the new state come true together. */
export async function applyReport(
  { database, clock, logger }: { database: Database; clock: Clock; logger: Logger },
  report: SessionReport,
): Promise<void> {
  const { checkoutId } = report;
  const now = clock.now();
  const outcome = await database.transaction().execute(async (tx): Promise<Outcome> => {
    const checkout = checkoutId === null ? null : await lockCheckout(tx, checkoutId);
    if (checkout === null) return { step: { kind: "nothing" }, checkout };
    return { step: await takeStep(tx, { checkout, report, now }), checkout };
  });
  tellOutcome(logger, report, outcome);
}

type Step = { checkout: Checkout; report: SessionReport; now: Date };

/** Returns the step that was taken, which is another one when the ledger refuses. */
async function takeStep(tx: Database, { checkout, report, now }: Step): Promise<CheckoutStep> {
  const step = decideCheckout(checkout, report);
  const { sessionId, paymentId } = report;
  switch (step.kind) {
    case "credit": {
      const refusal = await credit(tx, checkout, now);
      if (refusal !== null) return await setAside(tx, { checkout, report, now }, refusal);
      await updateCheckout(tx, checkout.id, { state: "paid", endedAt: now, note: null, sessionId, paymentId });
      await takeBackCredit(tx, { ...checkout, state: "paid" }, now);
      return step;
    }
    case "mismatch":
      return await setAside(tx, { checkout, report, now }, step.note);
    case "complete":
      await updateCheckout(tx, checkout.id, { completedAt: now, sessionId, paymentId });
      return step;
    case "end":
      await updateCheckout(tx, checkout.id, { state: step.state, endedAt: now, note: step.note });
      return step;
    case "refuse":
    case "nothing":
      return step;
  }
}

/** `null`, or why the ledger would not take it. */
async function credit(tx: Database, { id, accountId, amount }: Checkout, now: Date): Promise<string | null> {
  const cause = { kind: "payment" as const, id };
  const booking = { id: nameTransaction(id), accountId, amount, channel: "stripe", cause };
  const result = await bookTopUp(tx, booking, now);
  return result.kind === "booked" ? null : `The ledger did not take it: ${result.kind}.`;
}

async function setAside(tx: Database, { checkout, report, now }: Step, note: string): Promise<CheckoutStep> {
  const { sessionId, paymentId } = report;
  await updateCheckout(tx, checkout.id, { state: "mismatched", endedAt: now, note, sessionId, paymentId });
  return { kind: "mismatch", note };
}

function tellOutcome(logger: Logger, report: SessionReport, { step, checkout }: Outcome): void {
  const { checkoutId, sessionId, outcome } = report;
  const fields = { checkout_id: checkoutId, account_id: checkout?.accountId ?? null, session: sessionId, outcome };
  switch (step.kind) {
    case "credit":
      logger.info(fields, "a payment was credited");
      break;
    case "mismatch":
      logger.error({ ...fields, note: step.note }, "a payment does not fit its checkout and was not credited");
      break;
    case "refuse":
      logger.error(fields, "a payment came by a session that the checkout does not have and was not credited");
      break;
    case "complete":
    case "end":
      logger.info(fields, "a payment went on");
      break;
    case "nothing":
      logger.debug(fields, "Stripe tells of nothing new, or of nothing of ours");
      break;
  }
}
