/**
 * Accounts, their plans and their API keys: who may call, from where, which endpoints, and how much at a time.
 *
 * Promises: the database stores only the hash of a key; the secret is returned once, on creation. A cached key costs no
 * query. Every node applies a change of a key, account or plan within a second, even without its change feed. A revoked
 * key never authenticates again. A connected program has one live key, `BA:<client>`, also if it connects concurrently.
 * Rotated keys share the budget, limits and spending of their lineage. One account cannot see another's keys.
 */
export { type Account, type ApiKey, type KeyRestrictions, type Plan, unrestricted } from "./account.ts";
export { findAccount, hasAccounts, listAccounts, updateSpendCaps } from "./account-store.ts";
export { findApiKey, listApiKeys, listKeyPage, listKeyUses } from "./api-key-store.ts";
export {
  authenticateCaller,
  authenticateSession,
  type CallAttempt,
  getKeyCaller,
  recallCaller,
  recognizeCaller,
  requireKeyAccess,
} from "./authenticate-caller.ts";
export { type CallerDirectory, createCallerDirectory } from "./caller-directory.ts";
export { createPlan, getPlan, updatePlan } from "./change-plan.ts";
export {
  findKeyClient,
  findKeyKind,
  findLastClientKey,
  issueClientKey,
  keyKinds,
  listClientKeys,
} from "./client-keys.ts";
export { closeAccount } from "./close-account.ts";
export { createAccount } from "./create-account.ts";
export { createApiKey, type NewApiKey } from "./create-api-key.ts";
export { keyPrefix } from "./key-text.ts";
export { createKeyUses, type KeyUses } from "./key-uses.ts";
export { changeOwnKey, createOwnKey, getOwnKey, type OwnKeyChange, revokeOwnKey, rotateOwnKey } from "./own-keys.ts";
export { listPlans } from "./plan-store.ts";
export { requireName } from "./require-valid.ts";
export { type AccountChange, updateAccount } from "./update-account.ts";
export { revokeApiKey, updateApiKey } from "./update-api-key.ts";
