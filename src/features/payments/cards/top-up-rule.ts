import type { AccountId } from "../../../lib/ids.ts";
import type { Nano } from "../../../lib/money.ts";
import type { StripeCard } from "../stripe-event.ts";

export const topUpStates = ["off", "on", "stopped"] as const;
export type TopUpState = (typeof topUpStates)[number];

/** `review`: a charge was not confirmed, or its amount differs. */
export const stopReasons = ["declined", "reversed", "review"] as const;
export type StopReason = (typeof stopReasons)[number];

/** When to charge an account's saved card, and how much. */
export type TopUpRule = {
  accountId: AccountId;
  /** `stopped` is off by our decision; only the owner switches it on again. */
  state: TopUpState;
  stopReason: StopReason | null;
  /** Charge when less than this is available. */
  threshold: Nano;
  amount: Nano;
  /** The same amount in the currency's minor unit, as Stripe counts it. */
  amountMinor: bigint;
  /** The most to charge per calendar month, UTC. */
  monthMax: Nano;
  /** No attempt before this time. */
  nextAt: Date;
};

export type SavedCard = StripeCard & { accountId: AccountId; savedAt: Date };

/** Card numbers never reach the gateway; brand and last digits identify the card to its owner. */
export function describeCard({ brand, last4 }: Pick<StripeCard, "brand" | "last4">): string {
  return `${brand} •••• ${last4}`;
}
