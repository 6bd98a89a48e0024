import type { UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";

/** `false` if this or a later step was already used: each code counts once under concurrency. */
export async function updateTotpStep(database: Database, userId: UserId, step: number): Promise<boolean> {
  const result = await database
    .updateTable("users")
    .set({ totp_last_step: BigInt(step) })
    .where("id", "=", userId)
    .where(({ eb, or }) => or([eb("totp_last_step", "is", null), eb("totp_last_step", "<", BigInt(step))]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function updateTotpWaiting(database: Database, userId: UserId, sealed: Buffer): Promise<void> {
  await database.updateTable("users").set({ totp_secret_waiting: sealed }).where("id", "=", userId).execute();
}

/** Stores the confirmed secret and its first used step; `null` removes the second factor. */
export async function updateTotpSecret(
  tx: Database,
  userId: UserId,
  totp: { sealed: Buffer; step: number } | null,
): Promise<void> {
  await tx
    .updateTable("users")
    .set({
      totp_secret: totp?.sealed ?? null,
      totp_secret_waiting: null,
      totp_last_step: totp === null ? null : BigInt(totp.step),
    })
    .where("id", "=", userId)
    .execute();
}

export async function replaceBackupCodes(tx: Database, userId: UserId, hashes: readonly Buffer[]): Promise<void> {
  await tx.deleteFrom("user_backup_codes").where("user_id", "=", userId).execute();
  if (hashes.length === 0) return;
  await tx
    .insertInto("user_backup_codes")
    .values(hashes.map((hash) => ({ user_id: userId, code_hash: hash })))
    .execute();
}

/** Consumes a code. `false` if the user has no such code. */
export async function deleteBackupCode(database: Database, userId: UserId, hash: Buffer): Promise<boolean> {
  const result = await database
    .deleteFrom("user_backup_codes")
    .where("user_id", "=", userId)
    .where("code_hash", "=", hash)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}
