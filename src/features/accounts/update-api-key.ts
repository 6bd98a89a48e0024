import { inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import { lockApiKey, updateApiKeyRow } from "./api-key-store.ts";
import type { KeyParts } from "./create-api-key.ts";
import { requireRestrictions } from "./key-restrictions.ts";
import { clientKeyPrefix, requireKeyName } from "./require-valid.ts";

export type KeyChange = { name?: string } & Partial<KeyRestrictions>;

/** Changes what is given; every node goes by it within a second. A revoked key cannot be changed back. */
export async function updateApiKey(parts: KeyParts, keyId: string, change: KeyChange): Promise<ApiKey> {
  return await parts.database.transaction().execute(async (tx) => {
    const apiKey = await lockApiKey(tx, keyId);
    if (apiKey === null) throw new AppError("not_found", `There is no key ${keyId}.`, { param: "key" });
    const changed = { ...apiKey, ...change, name: chooseName(apiKey, change) };
    // What was set long ago may have expired or lost its model since; only what changes now is judged.
    const judged = { ...changed, ...(change.expiresAt === undefined ? { expiresAt: null } : {}) };
    const modelIds = change.modelIds === undefined ? null : changed.modelIds;
    requireRestrictions({ ...judged, modelIds }, { now: parts.clock.now(), hasModel: parts.hasModel });
    await updateApiKeyRow(tx, changed);
    return changed;
  });
}

/** Ends a key at once and for good. A key that was revoked before stays revoked since then. */
export async function revokeApiKey(parts: Omit<KeyParts, "hasModel">, keyId: string): Promise<ApiKey> {
  return await inTransaction(parts.database, async (tx) => {
    const apiKey = await lockApiKey(tx, keyId);
    if (apiKey === null) throw new AppError("not_found", `There is no key ${keyId}.`, { param: "key" });
    const revoked = { ...apiKey, revokedAt: apiKey.revokedAt ?? parts.clock.now() };
    await updateApiKeyRow(tx, revoked);
    return revoked;
  });
}

/** A program's key is found by its name when the program is connected again, so it keeps it. */
function chooseName({ name }: ApiKey, change: KeyChange): string {
  if (change.name === undefined || change.name === name) return name;
  if (!name.startsWith(clientKeyPrefix)) return requireKeyName(change.name);
  throw new AppError("invalid_parameter", "The key of a connected program keeps its name.", { param: "name" });
}
