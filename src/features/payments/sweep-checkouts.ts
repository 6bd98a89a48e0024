import { applyReport } from "./apply-report.ts";
import type { NewsDependencies } from "./apply-reversal.ts";
import type { Checkout } from "./checkout.ts";
import { listSilentCheckouts, updateAskedAt, updateToFailed } from "./checkout-store.ts";

const silenceMsMax = 60 * 60_000;
const atOnceMax = 50;

/**
 * Asks Stripe about checkouts that nothing was heard of for an hour: events can be lost. Whatever goes wrong ends the
 * run; the one at fault comes last in the next.
 */
export async function sweepCheckouts(dependencies: NewsDependencies, signal: AbortSignal): Promise<void> {
  const { database, clock } = dependencies;
  const before = new Date(clock.now().getTime() - silenceMsMax);
  for (const checkout of await listSilentCheckouts(database, { before, limit: atOnceMax })) {
    if (signal.aborted) return;
    await updateAskedAt(database, checkout.id, clock.now());
    await askAbout(dependencies, checkout);
  }
}

async function askAbout(
  { database, clock, logger, stripe }: NewsDependencies,
  { id, sessionId }: Checkout,
): Promise<void> {
  if (sessionId === null) {
    // The gateway stopped before it had an answer, and so nobody knows where to pay.
    return await updateToFailed(database, id, { note: "No page to pay on was made.", now: clock.now() });
  }
  const report = await stripe.findSession(sessionId);
  if (report === null) {
    return await updateToFailed(database, id, { note: "Stripe does not know the session.", now: clock.now() });
  }
  await applyReport({ database, clock, logger }, { ...report, checkoutId: id });
}
