/**
 * The catalog: which models there are and what is known of them.
 *
 * Promises: a model's id is stable and assigned by the service; nothing here names an upstream.
 */
export { addModelRoutes } from "./model-routes.ts";
export { seedSandboxCatalog } from "./sandbox-catalog.ts";
