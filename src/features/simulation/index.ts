/**
 * Simulations: what past work would have been charged under a draft of the catalog.
 *
 * Promises: changes nothing, and bills to the nano what was charged if the draft is the catalog of that time.
 */
export { type Comparison, type Simulation, simulateCatalog } from "./simulate-catalog.ts";
