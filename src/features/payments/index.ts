/**
 * Card payments through Stripe Checkout, enabled when the operator sets Stripe's keys.
 *
 * Promises: a checkout is credited at most once, even if Stripe's events arrive twice, late, concurrently, out of order or
 * not at all; a sweep polls for lost ones. The credited amount is the one stored before the customer paid; a payment that
 * differs is not credited and waits for the operator. The credit and the checkout's end commit in one transaction, which
 * never waits for Stripe. A refund or dispute claws the credit back once; what the account has already spent becomes debt.
 */
export { type Checkout, checkoutOrigins, checkoutStates } from "./checkout.ts";
export { findCheckout, listCheckouts, listPayments } from "./checkout-store.ts";
export type { PaymentLimits } from "./create-checkout.ts";
export { createPayments, type Payments } from "./create-payments.ts";
export type { Reversal } from "./reversal.ts";
export { listReversals, listReversalsOfAll } from "./reversal-store.ts";
export { fromMinor } from "./stripe-amount.ts";
export type { StripeKeys, StripePlace } from "./stripe-client.ts";
