/**
 * The secrets of upstreams: keys and header values that the catalog names, encrypted in the database.
 *
 * Promises: a change takes effect on every node within a second, without a restart; calls under way keep the value they
 * started with. A stored secret wins over an environment variable of the same name. A value never leaves this feature but
 * through `SecretReader`.
 */
export { removeSecret, rollBackSecret, storeSecret } from "./change-secret.ts";
export { recordSecretUses } from "./record-secret-uses.ts";
export { listSecretVersions, type SecretVersion } from "./secret-store.ts";
export { createStoredSecrets, type StoredSecrets } from "./stored-secrets.ts";
