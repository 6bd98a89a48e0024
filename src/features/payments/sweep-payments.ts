import type { PaymentDependencies } from "./apply-reversal.ts";
import { applySession } from "./apply-session.ts";
import { saveCard, saveWantedCards } from "./cards/save-card.ts";
import type { Checkout } from "./checkout.ts";
import { listSilentCheckouts, updateAskedAt, updateToFailed } from "./checkout-store.ts";
import { applyStripeEvent } from "./handle-stripe-event.ts";
import { readAskedUntil, writeAskedUntil } from "./reversal-store.ts";

const pollEveryMs = 60 * 60_000;
const checkoutsPerSweepMax = 50;
/** Stripe may list an event a moment after the time it carries. */
const overlapMs = 10 * 60_000;

/** Polls Stripe for what lost webhook events would have reported. If one part fails, the others still run. */
export async function sweepPayments(dependencies: PaymentDependencies, signal: AbortSignal): Promise<void> {
  const outcomes: PromiseSettledResult<void>[] = [];
  for (const sweep of [sweepCheckouts, saveWantedCards, sweepReversals]) {
    outcomes.push(...(await Promise.allSettled([sweep(dependencies, signal)])));
  }
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Polls checkouts without an event for an hour. An error ends the run; the failed checkout comes last in the next. */
async function sweepCheckouts(dependencies: PaymentDependencies, signal: AbortSignal): Promise<void> {
  const { database, clock } = dependencies;
  const before = new Date(clock.now().getTime() - pollEveryMs);
  for (const checkout of await listSilentCheckouts(database, { origin: "page", before, limit: checkoutsPerSweepMax })) {
    if (signal.aborted) return;
    await updateAskedAt(database, checkout.id, clock.now());
    await pollCheckout(dependencies, checkout);
  }
}

async function pollCheckout(dependencies: PaymentDependencies, { id, sessionId }: Checkout): Promise<void> {
  const { database, clock, stripe } = dependencies;
  if (sessionId === null) {
    // The gateway stopped before Stripe answered, so the customer never got a URL to pay at.
    return await updateToFailed(database, id, { note: "No Stripe session was created.", now: clock.now() });
  }
  const session = await stripe.findSession(sessionId);
  if (session === null) {
    return await updateToFailed(database, id, { note: "Stripe has no such session.", now: clock.now() });
  }
  await applySession(dependencies, { ...session, checkoutId: id });
  await saveCard(dependencies, id);
}

/** Polls hourly for refund and dispute events: a payment can be disputed for months. */
async function sweepReversals(dependencies: PaymentDependencies, signal: AbortSignal): Promise<void> {
  const { database, clock, logger, stripe } = dependencies;
  const now = clock.now();
  const askedUntil = await readAskedUntil(database);
  // Start now: the operator has already handled refunds from before this gateway tracked them.
  if (askedUntil === null) return await writeAskedUntil(database, now);
  if (signal.aborted || now.getTime() - askedUntil.getTime() < pollEveryMs) return;
  const events = await stripe.listReversalEvents(new Date(askedUntil.getTime() - overlapMs));
  if (events === null) logger.warn("Stripe events not readable with this key, lost refunds and disputes not recovered");
  for (const event of events ?? []) {
    if (signal.aborted) return;
    await applyStripeEvent(dependencies, event);
  }
  await writeAskedUntil(database, now);
}
