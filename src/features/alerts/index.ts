/**
 * Mail alerts: a low balance, and keys near their budgets.
 *
 * Promises: one mail per crossing of the balance's threshold, however many calls cross it, and at most one an hour; one per
 * key, budget and period. A job compares, so calls cost nothing more. The mark and the mail commit together.
 */
export { addAlertRoutes } from "./alert-routes.ts";
export { raiseAlerts } from "./raise-alerts.ts";
