/**
 * Simulations: what past work would have been charged under a draft of the catalog.
 *
 * Promises: changes nothing, and bills past charges to the nano as they were if the draft is the catalog of that time.
 */
export { type Comparison, type Simulation, simulateCatalog } from "./simulate-catalog.ts";
