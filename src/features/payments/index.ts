/**
 * Payments by card through Stripe Checkout, where an operator has set its keys.
 *
 * Promises: a checkout is credited once or not at all, however often, late, at once or in whatever order Stripe tells of
 * it, and even when it tells nothing and has to be asked. What is credited is what was written down before anybody was
 * asked for money; whatever else arrives is credited to nobody and shown to the operator. The credit and the checkout's
 * end become true in one transaction, in which nobody waits for Stripe. A refund or dispute takes the credit back once, in
 * whatever order it is heard of; what is spent is owed.
 */
export { type Checkout, checkoutStates } from "./checkout.ts";
export { findCheckout, listCheckouts } from "./checkout-store.ts";
export type { PaymentLimits } from "./create-checkout.ts";
export { createPayments, type Payments } from "./create-payments.ts";
export type { Reversal } from "./reversal.ts";
export { listReversals } from "./reversal-store.ts";
export { fromMinor } from "./stripe-amount.ts";
export type { StripeKeys, StripePlace } from "./stripe-client.ts";
