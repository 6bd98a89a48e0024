/**
 * The catalog: the models, who may use them, their prices and the upstreams that serve them.
 *
 * Promises: it changes as a whole, by a new version that every node serves within a second. A price version never
 * changes. A model without a price in force is neither listed nor callable. Reads need no database query. Responses to
 * customers never name an upstream.
 */

export { applyCatalog, type CatalogOutcome, draftCatalog, previewCatalog } from "./apply-catalog.ts";
export type { Catalog } from "./catalog.ts";
export type { CatalogFile } from "./catalog-file.ts";
export { findCatalogSource } from "./catalog-source-store.ts";
export { findCatalog, findPrice, listPriceModels, lockCatalog } from "./catalog-store.ts";
export {
  type CatalogView,
  findModel,
  findOfferedModel,
  findPriceOf,
  getOfferedModel,
  getPrice,
  listOfferedModels,
  newcomer,
  type OfferedModel,
} from "./catalog-view.ts";
export type { CatalogSurroundings } from "./check-catalog.ts";
export { chooseItem, markFacts } from "./choose-item.ts";
export { derivePrice } from "./compile-price.ts";
export { decideCost } from "./cost-sheet.ts";
export { type CatalogEdit, type EditOutcome, editCatalog } from "./edit-catalog.ts";
export { exportCatalog } from "./export-catalog.ts";
export { type Decimal, parseDecimal } from "./imports/exact-decimal.ts";
export { type ImportOutcome, importModels, importSources } from "./imports/import-models.ts";
export { listNamedSecrets } from "./list-named-secrets.ts";
export { listQuotaLosses } from "./list-quota-losses.ts";
export { listRouteFaults, type RouteFault } from "./list-route-faults.ts";
export { listUpstreams, type Upstream } from "./list-upstreams.ts";
export { type LiveCatalog, openLiveCatalog } from "./live-catalog.ts";
export { mergeCatalogs } from "./merge-catalogs.ts";
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
  modelStatuses,
  modelTypes,
} from "./model.ts";
export { addLogoRoutes, addModelRoutes, presentDeprecation } from "./model-routes.ts";
export { type LocatedProblem, parseCatalog } from "./parse-catalog.ts";
export { pollVendorBalances } from "./poll-vendor-balances.ts";
export { presentForEditing } from "./present-for-editing.ts";
export {
  type Price,
  type PriceFacts,
  type PriceItem,
  serviceTiers,
  type TokenAmounts,
  type TokenRates,
} from "./price.ts";
export { presentPrice, priceEntrySchema } from "./price-schema.ts";
export { publishHealth } from "./publish-health.ts";
export { publishVendorLimits } from "./publish-vendor-limits.ts";
export { recordUpstreamTest } from "./record-upstream-test.ts";
export type { RouteTarget } from "./route-target.ts";
export { seedSandboxCatalog } from "./seed-sandbox-catalog.ts";
export { sweepUpstreamEvents } from "./sweep-upstream-events.ts";
export { listActiveSwitches, switchOff, switchOn } from "./switch-upstream.ts";
export type { SwitchMode, UpstreamSwitch } from "./upstream-switch.ts";
export { listVendorBalances, type StoredBalance } from "./vendor-balance-store.ts";
export { listVendorLimits, type SeenLimit } from "./vendor-limit-store.ts";
