/**
 * The operator side: its API under `/admin/v1`, who may call it, and what operators do across accounts.
 *
 * Promises: for customers it does not exist; they get the 404 of an unknown path. Operators need two-step sign-in, and a
 * recent proof of identity for money, secrets and rights. A key does only what its scopes and access permit, and cannot make
 * keys or operators. Every change commits together with its entry in the audit log. Keys are stored as hashes.
 */

export { closeAsOperator } from "./accounts/support-account.ts";
export type { AdminCommands } from "./admin-dependencies.ts";
export { recordCatalog } from "./catalog/apply-as-operator.ts";
export { type Admin, createAdmin } from "./create-admin.ts";
export type { Acting } from "./edge/admin-caller.ts";
export {
  type AdminAccess,
  type AdminEndpointName,
  type AdminScope,
  adminEndpointNames,
  adminScopes,
  getAdminEndpoint,
} from "./edge/admin-endpoint-table.ts";
export type { AdminKey } from "./keys/admin-key.ts";
export { listAdminKeys } from "./keys/admin-key-store.ts";
export { createAdminKey, revokeAdminKey } from "./keys/change-admin-keys.ts";
export { nameRevenueColumns, readRevenue, revenueSteps } from "./money/read-revenue.ts";
export { runVerification } from "./money/run-verification.ts";
export { grantOperator, revokeOperator } from "./operators/grant-operator.ts";
export {
  findOperatorRole,
  listOperatorEmails,
  listOperators,
  type Operator,
  putOperator,
} from "./operators/operator-store.ts";
export { erasePerson } from "./people/erase-person.ts";
export { exportPerson } from "./people/export-person.ts";
export { narrowToView } from "./views/view-account.ts";
