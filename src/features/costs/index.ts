/**
 * What upstreams charge the operator, and what is left of the revenue.
 *
 * Promises: the cost of charged work is stored with its charge, in the same transaction; costs without a charge are stored
 * beside it. A simulated catalog bills past charges from what they stored, and changes nothing. Only operators see any of it.
 */
export { createUnchargedCosts, type UnchargedCosts } from "./create-uncharged-costs.ts";
export { type MarginKey, type MarginLine, marginKeys, sumMargins } from "./margin-store.ts";
export { insertUnchargedCosts, sumUnchargedCosts } from "./uncharged-cost-store.ts";
