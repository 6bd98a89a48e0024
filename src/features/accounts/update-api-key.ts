import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import { findApiKey, lockApiKey, lockKeysOf, updateApiKeyRow, updateLineageBudget } from "./api-key-store.ts";
import type { HasModel } from "./create-api-key.ts";
import { findKeyKind } from "./key-kind.ts";
import { requireRestrictions } from "./key-restrictions.ts";
import { requireKeyName } from "./require-valid.ts";

export type KeyChangeDependencies = { database: Database; clock: Clock; hasModel: HasModel };
export type KeyChange = { name?: string; logsContent?: boolean } & Partial<KeyRestrictions>;

/** Changes what is given; every node goes by it within a second. A revoked key cannot be changed back. */
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
    // What was set long ago may have expired or lost its model since; only what changes now is judged.
    const judged = { ...changed, ...(change.expiresAt === undefined ? { expiresAt: null } : {}) };
    const modelIds = change.modelIds === undefined ? null : changed.modelIds;
    requireRestrictions({ ...judged, modelIds }, { now: clock.now(), hasModel });
    await updateApiKeyRow(tx, changed);
    if (change.budget !== undefined) await updateLineageBudget(tx, changed);
    return changed;
  });
}

/** Before any key is locked, so that who changes one of a line does not wait for who changes another. */
async function lockBudgets(tx: Database, keyId: string): Promise<void> {
  const apiKey = await findApiKey(tx, keyId);
  if (apiKey !== null) await lockKeysOf(tx, apiKey.accountId);
}

/** Ends a key at once and for good. A key that was revoked before stays revoked since then. */
export async function revokeApiKey(
  { database, clock }: { database: Database; clock: Clock },
  keyId: string,
): Promise<ApiKey> {
  return await inTransaction(database, async (tx) => {
    const apiKey = await lockApiKey(tx, keyId);
    if (apiKey === null) throw new AppError("not_found", `There is no key ${keyId}.`, { param: "key" });
    if (apiKey.isConsole) {
      const message = "The console's own key cannot be revoked. What it may spend can be limited by a budget.";
      throw new AppError("invalid_parameter", message, { param: "key" });
    }
    const revoked = { ...apiKey, revokedAt: apiKey.revokedAt ?? clock.now() };
    await updateApiKeyRow(tx, revoked);
    return revoked;
  });
}

/** A program's key is found by its name when the program is connected again, so it keeps it. */
function chooseName(apiKey: ApiKey, change: KeyChange): string {
  if (change.name === undefined || change.name === apiKey.name) return apiKey.name;
  const kind = findKeyKind(apiKey);
  if (kind === "secret") return requireKeyName(change.name);
  const whose = kind === "client" ? "The key of a connected program" : "The console's own key";
  throw new AppError("invalid_parameter", `${whose} keeps its name.`, { param: "name" });
}

/** With the console's own key people see what they have: its pages would be closed to them. */
function requireOpen({ expiresAt, modelIds, endpoints, addresses }: ApiKey): void {
  const narrowed = Object.entries({ expires_at: expiresAt, models: modelIds, endpoints, addresses });
  const [param] = narrowed.find(([, value]) => value !== null) ?? [];
  if (param === undefined) return;
  throw new AppError("invalid_parameter", "The console's own key can have a budget and limits, nothing else.", {
    param,
  });
}
