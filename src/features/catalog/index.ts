/**
 * The catalog: which models there are, who may use them, what they cost and where they are served.
 *
 * Promises: it changes as a whole, by a new version that every node serves within a second. A price version never
 * changes once it is written. A model without a price in force is neither listed nor callable. Answering costs no
 * database call. Nothing that a customer sees names an upstream.
 */
export { applyCatalog, type CatalogOutcome, previewCatalog } from "./apply-catalog.ts";
export { findCatalog, findPrice, listPriceModels } from "./catalog-store.ts";
export { type CatalogView, findOfferedModel, listOfferedModels, newcomer, type OfferedModel } from "./catalog-view.ts";
export { exportCatalog } from "./export-catalog.ts";
export { getOfferedModel, getPrice } from "./get-offered-model.ts";
export { listRouteFaults, type RouteFault } from "./list-route-faults.ts";
export { listUpstreams, type Upstream } from "./list-upstreams.ts";
export { type LiveCatalog, openLiveCatalog } from "./live-catalog.ts";
export { addLogoRoutes } from "./logo-routes.ts";
export {
  type Capability,
  capabilities,
  capabilityByStage,
  type DramaStage,
  type DramaStages,
  dramaStages,
  type ExtraParameter,
  listStageModels,
  type Model,
  type ModelType,
  modelStatuses,
  modelTypes,
} from "./model.ts";
export { addModelRoutes, presentDeprecation } from "./model-routes.ts";
export { type Price, readOwnPrices, type TokenAmounts } from "./price.ts";
export { presentPrice, priceEntrySchema } from "./price-schema.ts";
export { publishHealth } from "./publish-health.ts";
export type { RouteTarget } from "./route-target.ts";
export { seedSandboxCatalog } from "./seed-sandbox-catalog.ts";
