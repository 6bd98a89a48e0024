import { sql } from "kysely";
import type { AdminKeyId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { AdminAccess, AdminScope } from "../edge/admin-endpoint-table.ts";
import type { AdminKey } from "./admin-key.ts";

export async function insertAdminKey(tx: Database, key: AdminKey, hash: Buffer): Promise<void> {
  await tx
    .insertInto("admin_keys")
    .values({
      id: key.id,
      name: key.name,
      hash,
      last_four: key.lastFour,
      access: key.access,
      scopes: [...key.scopes],
      created_by: key.createdBy,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
    })
    .execute();
}

export async function findAdminKeyByHash(database: Database, hash: Buffer): Promise<AdminKey | null> {
  const row = await selectKeys(database).where("hash", "=", hash).executeTakeFirst();
  return row === undefined ? null : toKey(row);
}

/** `FOR UPDATE`, so that a key is revoked once. */
export async function lockAdminKey(tx: Database, id: string): Promise<AdminKey | null> {
  const row = await selectKeys(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toKey(row);
}

/** Newest first. */
export async function listAdminKeys(
  database: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<AdminKey[]> {
  const rows = await selectKeys(database)
    .$if(after !== null, (query) => query.where("id", "<", after ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toKey);
}

export async function updateKeyRevoked(
  tx: Database,
  id: AdminKeyId,
  { revokedAt, revokedBy }: { revokedAt: Date; revokedBy: string },
): Promise<void> {
  await tx
    .updateTable("admin_keys")
    .set({ revoked_at: revokedAt, revoked_by: revokedBy })
    .where("id", "=", id)
    .execute();
}

const usedEveryMs = 60_000;

/** To the minute. */
export async function updateKeyUsed(database: Database, { id, lastUsedAt }: AdminKey, now: Date): Promise<void> {
  if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < usedEveryMs) return;
  await sql`
    update admin_keys set last_used_at = greatest(last_used_at, ${now}::timestamptz) where id = ${id}`.execute(
    database,
  );
}

function selectKeys(database: Database) {
  return database
    .selectFrom("admin_keys")
    .select(["id", "name", "last_four", "access", "scopes", "created_by", "created_at", "expires_at"])
    .select(["last_used_at", "revoked_at"]);
}

type KeyRow = Awaited<ReturnType<ReturnType<typeof selectKeys>["executeTakeFirstOrThrow"]>>;

function toKey(row: KeyRow): AdminKey {
  return {
    // Check constraints guarantee the prefix and the access; the scopes were checked before they were stored.
    id: row.id as AdminKeyId,
    name: row.name,
    lastFour: row.last_four,
    access: row.access as AdminAccess,
    scopes: row.scopes as AdminScope[],
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
