import { notifyAccountChange } from "../../../platform/database/account-changes.ts";
import type { PaymentDependencies } from "../apply-reversal.ts";
import { findCheckout, lockCheckout, updateCheckout } from "../checkout-store.ts";
import { findSavedCard, listCardsWanted, putSavedCard } from "./top-up-store.ts";

const dayMs = 24 * 60 * 60_000;
const cardsPerSweepMax = 50;

/** Stores the card of a payment whose customer agreed to it. Repeatable: the card is read from Stripe until it is stored. */
export async function saveCard(
  { database, stripe, logger }: PaymentDependencies,
  checkoutId: string | null,
): Promise<void> {
  const checkout = checkoutId === null ? null : await findCheckout(database, { id: checkoutId });
  if (checkout === null || checkout.cardSave !== "wanted" || checkout.state !== "paid") return;
  const { id, accountId, paymentId, endedAt } = checkout;
  const card = paymentId === null ? null : await stripe.findCard(paymentId);
  const unused = await database.transaction().execute(async (tx) => {
    const locked = await lockCheckout(tx, id);
    if (locked?.cardSave !== "wanted" || endedAt === null) return null;
    await updateCheckout(tx, id, { cardSave: "done" });
    const known = await findSavedCard(tx, accountId);
    if (card === null) return null;
    await putSavedCard(tx, { ...card, accountId, savedAt: endedAt });
    await notifyAccountChange(tx, accountId, "balance");
    if (known === null || known.cardId === card.cardId) return null;
    // The payments' order decides, not that of their events.
    return known.savedAt > endedAt ? card : known;
  });
  if (card === null) logger.warn({ checkout_id: id, account_id: accountId }, "card not saved: Stripe has none");
  if (unused === null) return;
  try {
    await stripe.detachCard(unused.cardId);
  } catch (error) {
    // No automatic top-up charges this card.
    logger.warn({ account_id: accountId, error }, "unused card not detached at Stripe");
  }
}

/** Recovers cards whose read failed after the credit. */
export async function saveWantedCards(dependencies: PaymentDependencies, signal: AbortSignal): Promise<void> {
  const { database, clock } = dependencies;
  const since = new Date(clock.now().getTime() - dayMs);
  for (const id of await listCardsWanted(database, { since, limit: cardsPerSweepMax })) {
    if (signal.aborted) return;
    await saveCard(dependencies, id);
  }
}
