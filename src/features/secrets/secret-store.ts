import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** A version of a secret, without its value. */
export type SecretVersion = {
  name: string;
  version: number;
  createdAt: Date;
  createdBy: string;
  /** `null` for the version in use. */
  retiredAt: Date | null;
  lastUsedAt: Date | null;
};

export type SealedSecret = { name: string; version: number; sealed: Buffer };

/** The version in use of each name. */
export async function listCurrentSecrets(database: Database): Promise<SealedSecret[]> {
  return await database
    .selectFrom("secrets")
    .select(["name", "version", "sealed_value as sealed"])
    .where("retired_at", "is", null)
    .orderBy("name")
    .execute();
}

/** Every version, newest first within a name. */
export async function listSecretVersions(database: Database): Promise<SecretVersion[]> {
  const rows = await database
    .selectFrom("secrets")
    .select(["name", "version", "created_at", "created_by", "retired_at", "last_used_at"])
    .orderBy("name")
    .orderBy("version", "desc")
    .execute();
  return rows.map((row) => ({
    name: row.name,
    version: row.version,
    createdAt: row.created_at,
    createdBy: row.created_by,
    retiredAt: row.retired_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** Serializes changes, so that each name has one current version and versions are counted once. */
export async function lockSecrets(tx: Database): Promise<void> {
  await sql`lock table secrets in share row exclusive mode`.execute(tx);
}

export async function insertSecret(
  tx: Database,
  { name, version, sealed, now, actor }: SealedSecret & { now: Date; actor: string },
): Promise<void> {
  await tx
    .insertInto("secrets")
    .values({
      ...{ name, version, sealed_value: sealed, created_at: now, created_by: actor },
      ...{ retired_at: null, last_used_at: null },
    })
    .execute();
}

/** Retires the version in use, or makes another the one in use. */
export async function updateRetirement(
  tx: Database,
  { name, version, retiredAt }: { name: string; version: number; retiredAt: Date | null },
): Promise<void> {
  await tx
    .updateTable("secrets")
    .set({ retired_at: retiredAt })
    .where("name", "=", name)
    .where("version", "=", version)
    .execute();
}

export async function deleteVersions(
  tx: Database,
  { name, versions }: { name: string; versions: readonly number[] },
): Promise<void> {
  if (versions.length === 0) return;
  await tx.deleteFrom("secrets").where("name", "=", name).where("version", "in", versions).execute();
}

export async function updateLastUse(
  database: Database,
  { name, version }: { name: string; version: number },
  now: Date,
): Promise<void> {
  await database
    .updateTable("secrets")
    .set({ last_used_at: sql`greatest(last_used_at, ${now})` })
    .where("name", "=", name)
    .where("version", "=", version)
    .execute();
}
