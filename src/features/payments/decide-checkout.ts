import { type Checkout, mayFollow } from "./checkout.ts";
import type { StripeSession } from "./stripe-event.ts";

/** How a checkout changes when Stripe reports on its payment. */
export type CheckoutStep =
  | { kind: "credit" }
  /** The customer has paid by a delayed method; the money has not arrived. */
  | { kind: "complete" }
  | { kind: "end"; state: "expired" | "failed"; note: string | null }
  /** The payment does not match the checkout: not credited until an operator reviews it. */
  | { kind: "mismatch"; note: string }
  /** The payment came through another session than the checkout's. The checkout stays unchanged. */
  | { kind: "refuse" }
  | { kind: "nothing" };

/**
 * Depends only on the stored checkout and the session, so events may arrive twice, late, concurrently and in any order.
 * The first matching `paid` session is credited.
 */
export function decideCheckout(checkout: Checkout, session: StripeSession): CheckoutStep {
  const isPaid = session.outcome === "paid";
  // Events about a page's payment come with its session as well, which decides.
  if (checkout.origin === "external") return { kind: "nothing" };
  if ((checkout.origin === "automatic") !== (session.sessionId === null)) return { kind: "nothing" };
  if (checkout.origin === "automatic" && checkout.paymentId !== null && checkout.paymentId !== session.paymentId) {
    return { kind: isPaid ? "refuse" : "nothing" };
  }
  if (checkout.sessionId !== null && checkout.sessionId !== session.sessionId) {
    return { kind: isPaid ? "refuse" : "nothing" };
  }
  switch (session.outcome) {
    case "paid": {
      if (!mayFollow(checkout.state, "paid")) return { kind: "nothing" };
      const note = describeMismatch(checkout, session);
      return note === null ? { kind: "credit" } : { kind: "mismatch", note };
    }
    case "processing":
      return { kind: checkout.state === "open" && checkout.completedAt === null ? "complete" : "nothing" };
    case "failed":
      if (!mayFollow(checkout.state, "failed")) return { kind: "nothing" };
      return { kind: "end", state: "failed", note: session.note ?? "The payment did not succeed." };
    case "expired":
      return mayFollow(checkout.state, "expired") ? { kind: "end", state: "expired", note: null } : { kind: "nothing" };
    case "open":
      return { kind: "nothing" };
  }
}

function describeMismatch(checkout: Checkout, { accountId, amountMinor, currency }: StripeSession): string | null {
  if (accountId !== checkout.accountId) return `The Stripe session is for ${accountId ?? "no account"}.`;
  if (amountMinor === checkout.amountMinor && currency === checkout.currency) return null;
  const wanted = `${checkout.amountMinor} ${checkout.currency}`;
  return `Stripe charged ${amountMinor ?? "?"} ${currency ?? "?"} instead of ${wanted}, in the smallest unit.`;
}
