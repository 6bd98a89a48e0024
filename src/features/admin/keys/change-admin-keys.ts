import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { requireName } from "../../accounts/index.ts";
import { appendAudit } from "../../audit/index.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import { type AdminAccess, type AdminScope, adminScopes } from "../edge/admin-endpoint-table.ts";
import { type AdminKey, createAdminKeyText, hashAdminKey } from "./admin-key.ts";
import { insertAdminKey, lockAdminKey, updateKeyRevoked } from "./admin-key-store.ts";

type KeyRequest = {
  name: string;
  access: AdminAccess;
  /** Empty for all. */
  scopes: readonly string[];
  expiresAt: Date | null;
  acting: Acting;
};

type KeyDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
};

/** Creates an admin key. Its text is returned once and not stored. */
export async function createAdminKey(
  { database, clock, ids, randomBytes }: KeyDependencies,
  { access, expiresAt, acting, ...request }: KeyRequest,
): Promise<{ key: AdminKey; text: string }> {
  const now = clock.now();
  const scopes = request.scopes.length === 0 ? adminScopes : request.scopes.map(requireScope);
  if (expiresAt !== null && expiresAt <= now) {
    throw new AppError("invalid_parameter", "The expiry must be in the future.", { param: "expires_at" });
  }
  const text = createAdminKeyText(randomBytes);
  const key: AdminKey = {
    ...{ id: ids.next("akey"), name: requireName(request.name), lastFour: text.slice(-4), access },
    ...{ scopes: [...new Set(scopes)], createdBy: nameActor(acting.actor), createdAt: now, expiresAt },
    ...{ lastUsedAt: null, revokedAt: null },
  };
  await inTransaction(database, async (tx) => {
    await insertAdminKey(tx, key, hashAdminKey(text));
    const after = { name: key.name, access, scopes: key.scopes, expires_at: expiresAt?.toISOString() ?? null };
    await appendAudit(tx, {
      ...acting,
      ...{ action: "admin_key.created", subject: key.id, accountId: null, reason: null, before: null, after },
    });
  });
  return { key, text };
}

/** Takes effect with the next request. Revoking a revoked key changes nothing. */
export async function revokeAdminKey(
  { database, clock }: { database: Database; clock: Clock },
  { id, acting }: { id: string; acting: Acting },
): Promise<AdminKey> {
  return await inTransaction(database, async (tx) => {
    const key = await lockAdminKey(tx, id);
    if (key === null) throw new AppError("not_found", `There is no admin key ${id}.`, { param: "id" });
    if (key.revokedAt !== null) return key;
    const revokedAt = clock.now();
    await updateKeyRevoked(tx, key.id, { revokedAt, revokedBy: nameActor(acting.actor) });
    await appendAudit(tx, {
      ...acting,
      ...{ action: "admin_key.revoked", subject: key.id, accountId: null, reason: null },
      ...{ before: { name: key.name }, after: null },
    });
    return { ...key, revokedAt };
  });
}

function requireScope(text: string): AdminScope {
  const scope = adminScopes.find((known) => known === text);
  if (scope !== undefined) return scope;
  throw new AppError("invalid_parameter", `There is no scope ${text}. Scopes: ${adminScopes.join(", ")}.`, {
    param: "scopes",
  });
}
