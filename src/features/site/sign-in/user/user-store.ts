import { createHash } from "node:crypto";
import type { AccountId, UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";
import { normalizeMailbox } from "./normalize-mailbox.ts";
import type { User } from "./user.ts";

export async function insertUser(tx: Database, user: Omit<User, "totpSecret" | "totpSecretWaiting">): Promise<void> {
  await tx
    .insertInto("users")
    .values({
      id: user.id,
      account_id: user.accountId,
      email: user.email,
      name: user.name,
      password_hash: user.passwordHash,
      email_verified_at: user.emailVerifiedAt,
      created_at: user.createdAt,
    })
    .execute();
}

export async function findUser(database: Database, id: UserId): Promise<User | null> {
  const row = await selectUsers(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toUser(row);
}

export async function findUserByEmail(database: Database, email: string): Promise<User | null> {
  const row = await selectUsers(database)
    .where(({ fn, eb }) => eb(fn<string>("lower", ["email"]), "=", email.toLowerCase()))
    .executeTakeFirst();
  return row === undefined ? null : toUser(row);
}

export async function findUserOfAccount(database: Database, accountId: AccountId): Promise<User | null> {
  const row = await selectUsers(database).where("account_id", "=", accountId).executeTakeFirst();
  return row === undefined ? null : toUser(row);
}

export async function listUsers(database: Database): Promise<User[]> {
  return (await selectUsers(database).orderBy("id").execute()).map(toUser);
}

/** Locks the user, so that concurrent changes of credentials are serialized. */
export async function lockUser(tx: Database, id: UserId): Promise<User | null> {
  const row = await selectUsers(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toUser(row);
}

export async function updatePassword(tx: Database, id: UserId, passwordHash: string): Promise<void> {
  await tx.updateTable("users").set({ password_hash: passwordHash }).where("id", "=", id).execute();
}

export async function updateUserName(tx: Database, id: UserId, name: string): Promise<void> {
  await tx.updateTable("users").set({ name }).where("id", "=", id).execute();
}

/** The first verification counts. */
export async function updateEmailVerified(tx: Database, id: UserId, verifiedAt: Date): Promise<void> {
  await tx
    .updateTable("users")
    .set({ email_verified_at: verifiedAt })
    .where("id", "=", id)
    .where("email_verified_at", "is", null)
    .execute();
}

/** Records the mailbox as welcomed; returns whether it is new. */
export async function insertWelcomedMailbox(tx: Database, email: string, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto("welcomed_mailboxes")
    .values({ mailbox_hash: createHash("sha256").update(normalizeMailbox(email)).digest(), welcomed_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

function selectUsers(database: Database) {
  return database
    .selectFrom("users")
    .select([
      "id",
      "account_id",
      "email",
      "name",
      "password_hash",
      "email_verified_at",
      "totp_secret",
      "totp_secret_waiting",
      "created_at",
    ]);
}

type UserRow = Awaited<ReturnType<ReturnType<typeof selectUsers>["executeTakeFirstOrThrow"]>>;

function toUser(row: UserRow): User {
  return {
    // Check constraints enforce the prefixes.
    id: row.id as UserId,
    accountId: row.account_id as AccountId,
    email: row.email,
    name: row.name,
    passwordHash: row.password_hash,
    emailVerifiedAt: row.email_verified_at,
    totpSecret: row.totp_secret,
    totpSecretWaiting: row.totp_secret_waiting,
    createdAt: row.created_at,
  };
}
