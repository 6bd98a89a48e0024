import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import { findApiKey, lockApiKey, lockKeysOf, updateApiKeyRow, updateLineageBudget } from "./api-key-store.ts";
import { findKeyKind } from "./client-keys.ts";
import type { HasModel } from "./create-api-key.ts";
import { requireRestrictions } from "./key-restrictions.ts";
import { requireKeyName } from "./require-valid.ts";

export type KeyChangeDependencies = { database: Database; clock: Clock; hasModel: HasModel };
export type KeyChange = { name?: string; logsContent?: boolean } & Partial<KeyRestrictions>;

/** Every node applies the change within a second. A revoked key stays revoked. */
export async function updateApiKey(
  { database, clock, hasModel }: KeyChangeDependencies,
  keyId: string,
  change: KeyChange,
): Promise<ApiKey> {
  return await inTransaction(database, async (tx) => {
    if (change.budget !== undefined) await lockBudgets(tx, keyId);
    const apiKey = await lockApiKey(tx, keyId);
    if (apiKey === null) throw new AppError("not_found", `There is no key ${keyId}.`, { param: "key" });
    const changed = { ...apiKey, ...change, name: chooseName(apiKey, change) };
    if (apiKey.isConsole) requireOpen(changed);
    // Validate only what changes: an old expiry may have passed, and the catalog may have dropped a model.
    const validated = { ...changed, ...(change.expiresAt === undefined ? { expiresAt: null } : {}) };
    const modelIds = change.modelIds === undefined ? null : changed.modelIds;
    requireRestrictions({ ...validated, modelIds }, { now: clock.now(), hasModel });
    await updateApiKeyRow(tx, changed);
    if (change.budget !== undefined) await updateLineageBudget(tx, changed);
    return changed;
  });
}

/** Taken before any key row lock, to avoid deadlocks between keys of one lineage. */
async function lockBudgets(tx: Database, keyId: string): Promise<void> {
  const apiKey = await findApiKey(tx, keyId);
  if (apiKey !== null) await lockKeysOf(tx, apiKey.accountId);
}

/** Revokes a key for good. Revoking a revoked key keeps the first date. */
export async function revokeApiKey(
  { database, clock }: { database: Database; clock: Clock },
  keyId: string,
): Promise<ApiKey> {
  return await inTransaction(database, async (tx) => {
    const apiKey = await lockApiKey(tx, keyId);
    if (apiKey === null) throw new AppError("not_found", `There is no key ${keyId}.`, { param: "key" });
    if (apiKey.isConsole) {
      const message = "The console's own key cannot be revoked. Set a budget to limit its spending.";
      throw new AppError("invalid_parameter", message, { param: "key" });
    }
    const revoked = { ...apiKey, revokedAt: apiKey.revokedAt ?? clock.now() };
    await updateApiKeyRow(tx, revoked);
    return revoked;
  });
}

/** Client and console keys keep their names: reconnecting a program finds its key by name. */
function chooseName(apiKey: ApiKey, change: KeyChange): string {
  if (change.name === undefined || change.name === apiKey.name) return apiKey.name;
  const kind = findKeyKind(apiKey);
  if (kind === "secret") return requireKeyName(change.name);
  const whose = kind === "client" ? "The key of a connected program" : "The console's own key";
  throw new AppError("invalid_parameter", `${whose} cannot be renamed.`, { param: "name" });
}

/** Restricting the console's own key would lock users out of the console's pages. */
function requireOpen({ expiresAt, modelIds, endpoints, addresses }: ApiKey): void {
  const narrowed = Object.entries({ expires_at: expiresAt, models: modelIds, endpoints, addresses });
  const [param] = narrowed.find(([, value]) => value !== null) ?? [];
  if (param === undefined) return;
  throw new AppError("invalid_parameter", "The console's own key supports only a budget and limits.", { param });
}
