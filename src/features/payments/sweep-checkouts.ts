import { applyReport, type ReportParts } from "./apply-report.ts";
import type { Checkout } from "./checkout.ts";
import { listSilentCheckouts, updateAskedAt, updateToFailed } from "./checkout-store.ts";
import type { StripeClient } from "./stripe-client.ts";

const silenceMsMax = 60 * 60_000;
const atOnceMax = 50;

type SweepParts = ReportParts & { stripe: StripeClient };

/**
 * Asks Stripe about checkouts that nothing was heard of for an hour: events can be lost. Whatever goes wrong ends the
 * run; the one at fault comes last in the next.
 */
export async function sweepCheckouts(parts: SweepParts, signal: AbortSignal): Promise<void> {
  const before = new Date(parts.clock.now().getTime() - silenceMsMax);
  for (const checkout of await listSilentCheckouts(parts.database, { before, limit: atOnceMax })) {
    if (signal.aborted) return;
    await updateAskedAt(parts.database, checkout.id, parts.clock.now());
    await askAbout(parts, checkout);
  }
}

async function askAbout(parts: SweepParts, { id, sessionId }: Checkout): Promise<void> {
  const { database, clock } = parts;
  if (sessionId === null) {
    // The gateway stopped before it had an answer, and so nobody knows where to pay.
    return await updateToFailed(database, id, { note: "No page to pay on was made.", now: clock.now() });
  }
  const report = await parts.stripe.findSession(sessionId);
  if (report === null) {
    return await updateToFailed(database, id, { note: "Stripe does not know the session.", now: clock.now() });
  }
  await applyReport(parts, { ...report, checkoutId: id });
}
