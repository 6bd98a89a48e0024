import { applyNews } from "./apply-news.ts";
import type { NewsDependencies } from "./apply-reversal.ts";
import { readAskedUntil, writeAskedUntil } from "./reversal-store.ts";

const askEveryMs = 60 * 60_000;
/** An event can be listed a moment after its time. */
const overlapMs = 10 * 60_000;

/**
 * Asks Stripe every hour for the refunds and disputes that it told of since the last time: events can be lost, and a
 * payment can be contested for months. What was heard already changes nothing.
 */
export async function sweepReversals(dependencies: NewsDependencies, signal: AbortSignal): Promise<void> {
  const { database, clock, logger, stripe } = dependencies;
  const now = clock.now();
  const askedUntil = await readAskedUntil(database);
  // What happened before this gateway took refunds into account was for the operator to decide.
  if (askedUntil === null) return await writeAskedUntil(database, now);
  if (signal.aborted || now.getTime() - askedUntil.getTime() < askEveryMs) return;
  const news = await stripe.listReversals(new Date(askedUntil.getTime() - overlapMs));
  if (news === null) logger.warn("Stripe's key may not read events, so that lost ones are not found");
  for (const one of news ?? []) {
    if (signal.aborted) return;
    await applyNews(dependencies, one);
  }
  await writeAskedUntil(database, now);
}
