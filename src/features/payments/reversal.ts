import type { Checkout } from "./checkout.ts";

export type ReversalKind = "refund" | "dispute";

/** A refund or dispute of a payment, as Stripe last told of it. */
export type Reversal = {
  /** Stripe's name for it. */
  id: string;
  kind: ReversalKind;
  /** Stripe's word. */
  status: string;
  amountMinor: bigint;
  reason: string | null;
};

/** What an event or a list of Stripe's says of one. */
export type ToldReversal = Reversal & { paymentId: string; currency: string | null };

/** What a status means: whether the payment's money is gone, and which of two statuses is the later one. */
type Meaning = { isInEffect: boolean; rank: number };

const asked: Meaning = { isInEffect: false, rank: 0 };
const begun: Meaning = { isInEffect: true, rank: 1 };
const done: Meaning = { isInEffect: true, rank: 2 };
const undone: Meaning = { isInEffect: false, rank: 3 };

/** Of a dispute the money is gone from its beginning; an inquiry takes none. A refund that succeeded may still fail. */
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

/** `null` for a status that nobody here has heard of. */
function findMeaning({ kind, status }: Pick<Reversal, "kind" | "status">): Meaning | null {
  return Object.hasOwn(meanings[kind], status) ? (meanings[kind][status] ?? null) : null;
}

/** Whether Stripe has taken the money back, or keeps it until the dispute is decided. */
export function isInEffect(reversal: Pick<Reversal, "kind" | "status">): boolean {
  return findMeaning(reversal)?.isInEffect === true;
}

/**
 * What is known after something was told, in whatever order and however often: the later status stays, and the largest
 * amount. `null` where nothing can be made of what is told.
 */
export function mergeReversal(known: Reversal | null, told: Reversal): Reversal | null {
  const meaning = findMeaning(told);
  if (meaning === null) return null;
  if (known === null) return told;
  const isLater = meaning.rank >= (findMeaning(known)?.rank ?? 0);
  const amountMinor = known.amountMinor > told.amountMinor ? known.amountMinor : told.amountMinor;
  return { ...(isLater ? told : known), amountMinor };
}

/**
 * How much of a payment's credit each of its refunds and disputes takes, in the order in which they were first heard of:
 * together never more than was credited, so that what was refunded and is disputed as well is taken once.
 */
export function decideShares(
  { state, amountMinor, byHandSince }: Pick<Checkout, "state" | "amountMinor" | "byHandSince">,
  reversals: readonly Reversal[],
): { reversal: Reversal; owedMinor: bigint }[] {
  let left = state === "paid" && byHandSince === null ? amountMinor : 0n;
  return reversals.map((reversal) => {
    const wanted = isInEffect(reversal) ? reversal.amountMinor : 0n;
    const owedMinor = wanted < left ? wanted : left;
    left -= owedMinor;
    return { reversal, owedMinor };
  });
}
