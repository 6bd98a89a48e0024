/**
 * Plans that customers buy and renew themselves.
 *
 * Promises: a purchase debits the balance and starts the plan's period in one transaction, once however often it is sent. A
 * renewal does the same when a period has ended, at the price that was agreed. Without the money, or after a cancellation,
 * the plan ends with its period and the owner gets a mail. A plan that an operator gave is theirs to change.
 */
export { addPlanRoutes } from "./plan-routes.ts";
export { endSubscription } from "./plan-subscription-store.ts";
export { renewSubscription } from "./renew-subscription.ts";
