import { type Checkout, mayFollow } from "./checkout.ts";
import type { SessionReport } from "./session-report.ts";

/** What follows from a report of Stripe's. */
export type CheckoutStep =
  | { kind: "credit" }
  /** The person is done; the money is on its way. */
  | { kind: "complete" }
  | { kind: "end"; state: "expired" | "failed"; note: string | null }
  /** Money arrived that does not fit: nobody gets it until an operator has looked. */
  | { kind: "mismatch"; note: string }
  /** Money arrived by a session that we did not make for this checkout, which stays as it is. */
  | { kind: "refuse" }
  | { kind: "nothing" };

/**
 * Decides by what is written and what is said alone, so that events may come twice, late, at once and in any order:
 * the first that says "paid" and fits is the one that is credited.
 */
export function decideCheckout(checkout: Checkout, report: SessionReport): CheckoutStep {
  const isPaid = report.outcome === "paid";
  if (checkout.sessionId !== null && checkout.sessionId !== report.sessionId) {
    return { kind: isPaid ? "refuse" : "nothing" };
  }
  switch (report.outcome) {
    case "paid": {
      if (!mayFollow(checkout.state, "paid")) return { kind: "nothing" };
      const note = describeMismatch(checkout, report);
      return note === null ? { kind: "credit" } : { kind: "mismatch", note };
    }
    case "processing":
      return { kind: checkout.state === "open" && checkout.completedAt === null ? "complete" : "nothing" };
    case "failed":
      if (!mayFollow(checkout.state, "failed")) return { kind: "nothing" };
      return { kind: "end", state: "failed", note: "The payment did not succeed." };
    case "expired":
      return mayFollow(checkout.state, "expired") ? { kind: "end", state: "expired", note: null } : { kind: "nothing" };
    case "open":
      return { kind: "nothing" };
  }
}

function describeMismatch(checkout: Checkout, { accountId, amountMinor, currency }: SessionReport): string | null {
  if (accountId !== checkout.accountId) return `Stripe says that it is for ${accountId ?? "no account"}.`;
  if (amountMinor === checkout.amountMinor && currency === checkout.currency) return null;
  const wanted = `${checkout.amountMinor} ${checkout.currency}`;
  return `Stripe took ${amountMinor ?? "?"} ${currency ?? "?"} in place of ${wanted}, in the smallest unit.`;
}
