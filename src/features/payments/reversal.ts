import type { Checkout } from "./checkout.ts";

export type ReversalKind = "refund" | "dispute";

/** A refund or dispute of a payment, with the latest status from Stripe. */
export type Reversal = {
  /** Stripe's id. */
  id: string;
  kind: ReversalKind;
  /** Stripe's status. */
  status: string;
  amountMinor: bigint;
  reason: string | null;
};

/** A refund or dispute as read from an event or a list. */
export type StripeReversal = Reversal & { paymentId: string; currency: string | null };

/** Whether the status takes the payment's money away. Of two statuses, the one with the higher rank is the later. */
type Meaning = { isInEffect: boolean; rank: number };

const asked: Meaning = { isInEffect: false, rank: 0 };
const begun: Meaning = { isInEffect: true, rank: 1 };
const done: Meaning = { isInEffect: true, rank: 2 };
const undone: Meaning = { isInEffect: false, rank: 3 };

/** A dispute takes the money when it opens; an inquiry takes none. A refund that succeeded may still fail. */
const meanings: Record<ReversalKind, Readonly<Record<string, Meaning>>> = {
  refund: { requires_action: begun, pending: begun, succeeded: done, failed: undone, canceled: undone },
  dispute: {
    warning_needs_response: asked,
    warning_under_review: asked,
    warning_closed: asked,
    needs_response: begun,
    under_review: begun,
    lost: done,
    won: undone,
    prevented: undone,
  },
};

/** `null` for an unknown status. */
function findMeaning({ kind, status }: Pick<Reversal, "kind" | "status">): Meaning | null {
  return Object.hasOwn(meanings[kind], status) ? (meanings[kind][status] ?? null) : null;
}

/** Whether Stripe has taken the money back, or withholds it until the dispute is decided. */
export function isInEffect(reversal: Pick<Reversal, "kind" | "status">): boolean {
  return findMeaning(reversal)?.isInEffect === true;
}

/**
 * Keeps the later status and the largest amount, so repeated and reordered events give the same result. `null` for an
 * unknown status.
 */
export function mergeReversal(known: Reversal | null, reported: Reversal): Reversal | null {
  const meaning = findMeaning(reported);
  if (meaning === null) return null;
  if (known === null) return reported;
  const isLater = meaning.rank >= (findMeaning(known)?.rank ?? 0);
  const amountMinor = known.amountMinor > reported.amountMinor ? known.amountMinor : reported.amountMinor;
  return { ...(isLater ? reported : known), amountMinor };
}

/**
 * How much credit each refund and dispute claws back, in order of arrival. The total never exceeds the payment, so an
 * amount that was both refunded and disputed is clawed back once.
 */
export function decideShares(
  { state, amountMinor }: Pick<Checkout, "state" | "amountMinor">,
  reversals: readonly Reversal[],
): { reversal: Reversal; owedMinor: bigint }[] {
  let left = state === "paid" ? amountMinor : 0n;
  return reversals.map((reversal) => {
    const wanted = isInEffect(reversal) ? reversal.amountMinor : 0n;
    const owedMinor = wanted < left ? wanted : left;
    left -= owedMinor;
    return { reversal, owedMinor };
  });
}
