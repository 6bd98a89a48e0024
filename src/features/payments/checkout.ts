import type { AccountId, CheckoutId, TransactionId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";

export const checkoutStates = ["open", "paid", "expired", "failed", "mismatched"] as const;
export type CheckoutState = (typeof checkoutStates)[number];

/**
 * What may follow what. Money that arrives after all is credited, whatever was heard before; what did not fit waits for
 * a person.
 */
const nextStates = {
  open: ["paid", "expired", "failed", "mismatched"],
  expired: ["paid", "mismatched"],
  failed: ["paid", "mismatched"],
  mismatched: [],
  paid: [],
} as const satisfies Record<CheckoutState, readonly CheckoutState[]>;

export function mayFollow(from: CheckoutState, to: CheckoutState): boolean {
  const allowed: readonly CheckoutState[] = nextStates[from];
  return allowed.includes(to);
}

/** A request to pay, from before Stripe is asked until the money is credited or will not come. */
export type Checkout = {
  id: CheckoutId;
  accountId: AccountId;
  amount: Nano;
  currency: string;
  /** The same amount in the unit that Stripe counts in. */
  amountMinor: bigint;
  state: CheckoutState;
  sessionId: string | null;
  /** Where it is paid. */
  sessionUrl: string | null;
  paymentId: string | null;
  /** Why it failed or does not fit, for the operator. */
  note: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** When the person was done while the money was still on its way. */
  completedAt: Date | null;
  endedAt: Date | null;
  /** What of it was given back or contested since. */
  refundedMinor: bigint;
  disputedAt: Date | null;
  /** Set where an operator has to see to that, because it began before credit was taken back by itself. */
  byHandSince: Date | null;
};

/** The booking of a checkout has its name, so that there can be one only, whatever else goes wrong. */
export function nameTransaction(id: CheckoutId): TransactionId {
  return `txn_${id.slice("chk_".length)}`;
}
