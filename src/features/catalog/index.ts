/**
 * The catalog: which models there are, who may use them, what they cost and where they are served.
 *
 * Promises: it changes as a whole, by a new version that every node serves within a second. A price version never
 * changes once it is written. A model without a price in force is neither listed nor callable. Answering costs no
 * database call. Nothing that a customer sees names an upstream.
 */
export { applyCatalog, type CatalogOutcome, previewCatalog } from "./apply-catalog.ts";
export { findCatalog } from "./catalog-store.ts";
export { exportCatalog } from "./export-catalog.ts";
export { type LiveCatalog, openLiveCatalog } from "./live-catalog.ts";
export { addModelRoutes } from "./model-routes.ts";
export { seedSandboxCatalog } from "./seed-sandbox-catalog.ts";
