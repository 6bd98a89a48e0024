import type { UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";

export type Passkey = {
  id: string;
  userId: UserId;
  /** The authenticator's id of it. */
  credentialId: string;
  publicKey: Buffer;
  signCount: bigint;
  transports: string[];
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** `false` if the passkey is already registered. */
export async function insertPasskey(tx: Database, passkey: Omit<Passkey, "lastUsedAt">): Promise<boolean> {
  const result = await tx
    .insertInto("user_passkeys")
    .values({
      id: passkey.id,
      user_id: passkey.userId,
      credential_id: passkey.credentialId,
      public_key: passkey.publicKey,
      sign_count: passkey.signCount,
      transports: passkey.transports,
      name: passkey.name,
      created_at: passkey.createdAt,
    })
    .onConflict((conflict) => conflict.column("credential_id").doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function findPasskey(database: Database, credentialId: string): Promise<Passkey | null> {
  const row = await selectPasskeys(database).where("credential_id", "=", credentialId).executeTakeFirst();
  return row === undefined ? null : toPasskey(row);
}

export async function listPasskeys(database: Database, userId: UserId): Promise<Passkey[]> {
  return (await selectPasskeys(database).where("user_id", "=", userId).orderBy("id").execute()).map(toPasskey);
}

/** `false` if its counter has advanced meanwhile: the passkey may have been cloned. */
export async function updatePasskeyUse(
  database: Database,
  passkey: Passkey,
  use: { signCount: bigint; usedAt: Date },
): Promise<boolean> {
  const result = await database
    .updateTable("user_passkeys")
    .set({ sign_count: use.signCount, last_used_at: use.usedAt })
    .where("id", "=", passkey.id)
    .where("sign_count", "=", passkey.signCount)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** `false` if the user has no such passkey. */
export async function deletePasskey(database: Database, { userId, id }: { userId: UserId; id: string }) {
  const result = await database
    .deleteFrom("user_passkeys")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

function selectPasskeys(database: Database) {
  return database
    .selectFrom("user_passkeys")
    .select([
      "id",
      "user_id",
      "credential_id",
      "public_key",
      "sign_count",
      "transports",
      "name",
      "created_at",
      "last_used_at",
    ]);
}

type PasskeyRow = Awaited<ReturnType<ReturnType<typeof selectPasskeys>["executeTakeFirstOrThrow"]>>;

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    // A check constraint enforces the prefix.
    userId: row.user_id as UserId,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    signCount: row.sign_count,
    transports: row.transports,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
