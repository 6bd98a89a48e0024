/**
 * Accounts and their API keys: who may call.
 *
 * Promises: the text of a key exists only in the answer that creates it; what is stored is its hash. A key that was
 * revoked never authenticates again.
 */
export type { Account, ApiKey } from "./account.ts";
export { findAccount, hasAccounts, listAccounts, listApiKeys } from "./account-store.ts";
export { authenticateCaller } from "./authenticate-caller.ts";
export { createAccount } from "./create-account.ts";
export { createApiKey } from "./create-api-key.ts";
export { revokeApiKey } from "./revoke-api-key.ts";
