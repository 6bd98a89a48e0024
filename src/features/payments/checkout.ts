import type { AccountId, CheckoutId, TransactionId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";

/**
 * `page`: the customer pays on Stripe's page. `automatic`: a saved card is charged without the customer.
 * `external`: another provider reported it paid.
 */
export const checkoutOrigins = ["page", "automatic", "external"] as const;
export type CheckoutOrigin = (typeof checkoutOrigins)[number];

/** The ledger's name of the money's way in. */
export function nameChannel({ origin }: { origin: CheckoutOrigin }): string {
  return origin === "external" ? "external" : "stripe";
}

export const checkoutStates = ["open", "paid", "expired", "failed", "mismatched"] as const;
export type CheckoutState = (typeof checkoutStates)[number];

/** A payment that arrives late is still credited. A mismatched one waits for an operator. */
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

/** A request to pay, stored before Stripe is called and kept after it was credited, expired or failed. */
export type Checkout = {
  id: CheckoutId;
  accountId: AccountId;
  amount: Nano;
  currency: string;
  /** The same amount in the currency's minor unit, as Stripe counts it. */
  amountMinor: bigint;
  state: CheckoutState;
  sessionId: string | null;
  /** Stripe's payment page. */
  sessionUrl: string | null;
  paymentId: string | null;
  /** Why it failed or is mismatched, for the operator. */
  note: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** When the customer finished a payment that had not arrived yet. */
  completedAt: Date | null;
  endedAt: Date | null;
  refundedMinor: bigint;
  disputedAt: Date | null;
  origin: CheckoutOrigin;
  /** `wanted` until the card of the payment was read from Stripe; `null` if the card is not saved. */
  cardSave: "wanted" | "done" | null;
  /** Stripe's ids of the customer and the card that an automatic charge uses. */
  customerId: string | null;
  cardId: string | null;
};

/** Deriving the transaction's id from the checkout's makes a second credit a duplicate. */
export function nameTransaction(id: CheckoutId): TransactionId {
  return `txn_${id.slice("chk_".length)}`;
}
