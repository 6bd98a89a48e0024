import type { Database } from "../../platform/database/database.ts";
import { clawBack } from "../ledger/index.ts";
import { type Checkout, nameChannel } from "./checkout.ts";
import { updateReversed } from "./checkout-store.ts";
import { decideShares, isInEffect } from "./reversal.ts";
import { listReversals } from "./reversal-store.ts";
import { fromMinor } from "./stripe-amount.ts";

/** Brings the ledger in line with the checkout's refunds and disputes. Call it under the lock of the checkout. */
export async function clawBackCheckout(tx: Database, checkout: Checkout, now: Date): Promise<void> {
  const reversals = await listReversals(tx, [checkout.id]);
  if (reversals.length === 0) return;
  const refundedMinor = reversals
    .filter((reversal) => reversal.kind === "refund" && isInEffect(reversal))
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const isDisputed = reversals.some(({ kind }) => kind === "dispute");
  await updateReversed(tx, checkout.id, {
    refundedMinor,
    disputedAt: isDisputed ? (checkout.disputedAt ?? now) : null,
  });
  const shares = decideShares(checkout, reversals);
  // Return credit first: the next reversal may claw it back.
  for (const { reversal, owedMinor } of shares.toSorted(
    (a, b) => Number(a.owedMinor > 0n) - Number(b.owedMinor > 0n),
  )) {
    const request = {
      id: reversal.id,
      accountId: checkout.accountId,
      channel: nameChannel(checkout),
      cause: { kind: `payment_${reversal.kind}`, id: checkout.id },
      owed: fromMinor(owedMinor, checkout.currency),
    } as const;
    await clawBack(tx, request, now);
  }
}
