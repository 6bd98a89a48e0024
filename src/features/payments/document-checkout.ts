import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { issueDocuments } from "../invoices/index.ts";
import { type Checkout, nameChannel } from "./checkout.ts";
import { listUndocumented, lockCheckout } from "./checkout-store.ts";
import { decideShares } from "./reversal.ts";
import { listReversals } from "./reversal-store.ts";
import { fromMinor } from "./stripe-amount.ts";

/**
 * Issues the documents that a checkout lacks: its invoice, and credit notes for its refunds and disputes. Call it last, under
 * the lock of the checkout: it locks the series of numbers until the transaction ends.
 */
export async function documentCheckout(tx: Database, checkout: Checkout, now: Date): Promise<void> {
  const { id, accountId, amount, currency, endedAt, state } = checkout;
  if (state !== "paid" || endedAt === null) return;
  const shares = decideShares(checkout, await listReversals(tx, [id]));
  const reversals = shares.map(({ reversal, owedMinor }) => ({
    ...{ id: reversal.id, kind: reversal.kind },
    owed: fromMinor(owedMinor, currency),
  }));
  const channel = nameChannel(checkout);
  await issueDocuments(tx, { id, accountId, channel, amount, currency, paidAt: endedAt, reversals }, now);
}

const dayMs = 24 * 60 * 60_000;
/** Longer than gateways of two versions run beside each other. */
const lateMs = 7 * dayMs;
const paymentsPerRunMax = 500;

/** Issues the invoices of payments that a gateway of an earlier version credited during an upgrade. */
export async function documentLatePayments({ database, clock }: { database: Database; clock: Clock }) {
  const now = clock.now();
  const late = { since: new Date(now.getTime() - lateMs), limit: paymentsPerRunMax };
  for (const id of await listUndocumented(database, late)) {
    await database.transaction().execute(async (tx) => {
      const checkout = await lockCheckout(tx, id);
      if (checkout !== null) await documentCheckout(tx, checkout, now);
    });
  }
}
