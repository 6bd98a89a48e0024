/**
 * Accounts, their plans and their API keys: who may call, from where, for what, and how much at a time.
 *
 * Promises: the text of a key exists only in the answer that creates it; what is stored is its hash. A known key costs
 * no database call. A key, account or plan that changes is felt by every node within a second, even by a node that
 * has lost its connection for hearing of changes. A key that was revoked never authenticates again. A program that was
 * connected through a browser has one live key, `BA:<client>`, however often and however many at once connect it. What
 * counts against a budget or limit of a key counts for those that replace it. To an account's own people, another
 * account's key does not exist.
 */
export { type Account, type ApiKey, type KeyRestrictions, type Plan, unrestricted } from "./account.ts";
export { findAccount, hasAccounts, listAccounts } from "./account-store.ts";
export { findApiKey, listApiKeys, listKeyPage } from "./api-key-store.ts";
export {
  authenticateCaller,
  authenticateSession,
  type CallAttempt,
  recallCaller,
  recognizeCaller,
  requireKeyAccess,
} from "./authenticate-caller.ts";
export { type CallerDirectory, createCallerDirectory } from "./caller-directory.ts";
export { createPlan, getPlan, updatePlan } from "./change-plan.ts";
export { findKeyClient, findLastClientKey, issueClientKey, listClientKeys } from "./client-keys.ts";
export { createAccount } from "./create-account.ts";
export { createApiKey, type KeyDependencies } from "./create-api-key.ts";
export { findKeyKind, keyKinds } from "./key-kind.ts";
export { keyPrefix } from "./key-text.ts";
export { listKeyUses } from "./key-use-store.ts";
export { createKeyUses, type KeyUses } from "./key-uses.ts";
export { changeOwnKey, createOwnKey, getOwnKey, type OwnKeyChange, revokeOwnKey, rotateOwnKey } from "./own-keys.ts";
export { listPlans } from "./plan-store.ts";
export { requireName } from "./require-valid.ts";
export { type AccountChange, updateAccount } from "./update-account.ts";
export { revokeApiKey, updateApiKey } from "./update-api-key.ts";
