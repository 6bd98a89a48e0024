import type { UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";

export type Identity = { providerId: string; subject: string };

/** The user of a provider's subject, if known. */
export async function findIdentityOwner(database: Database, identity: Identity): Promise<UserId | null> {
  const row = await database
    .selectFrom("user_identities")
    .select("user_id")
    .where("provider_id", "=", identity.providerId)
    .where("subject", "=", identity.subject)
    .executeTakeFirst();
  // A check constraint enforces the prefix.
  return row === undefined ? null : (row.user_id as UserId);
}

/** The user's providers, oldest first. */
export async function listIdentities(
  database: Database,
  userId: UserId,
): Promise<{ providerId: string; createdAt: Date }[]> {
  const rows = await database
    .selectFrom("user_identities")
    .select(["provider_id", "created_at"])
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .execute();
  return rows.map((row) => ({ providerId: row.provider_id, createdAt: row.created_at }));
}

/** `false` if the user has no such provider. */
export async function deleteIdentity(tx: Database, { userId, providerId }: { userId: UserId; providerId: string }) {
  const result = await tx
    .deleteFrom("user_identities")
    .where("provider_id", "=", providerId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** `false` if the user has another subject at this provider, or the subject another user here. */
export async function insertIdentity(
  tx: Database,
  identity: Identity & { userId: UserId; createdAt: Date },
): Promise<boolean> {
  const result = await tx
    .insertInto("user_identities")
    .values({
      provider_id: identity.providerId,
      subject: identity.subject,
      user_id: identity.userId,
      created_at: identity.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}
