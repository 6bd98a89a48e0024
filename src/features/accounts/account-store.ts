import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Account, ApiKey } from "./account.ts";

/** `false` when the address is taken. */
export async function insertAccount(
  database: Database,
  account: { id: AccountId; email: string; passwordHash: string | null; createdAt: Date },
): Promise<boolean> {
  const result = await database
    .insertInto("accounts")
    .values({
      id: account.id,
      email: account.email,
      password_hash: account.passwordHash,
      created_at: account.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function listAccounts(database: Database): Promise<Account[]> {
  return (await selectAccounts(database).orderBy("id").execute()).map(toAccount);
}

export async function findAccount(database: Database, id: string): Promise<Account | null> {
  const row = await selectAccounts(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toAccount(row);
}

export async function hasAccounts(database: Database): Promise<boolean> {
  return (await database.selectFrom("accounts").select("id").limit(1).executeTakeFirst()) !== undefined;
}

export async function insertApiKey(
  database: Database,
  key: Omit<ApiKey, "revokedAt"> & { hash: Buffer },
): Promise<void> {
  await database
    .insertInto("api_keys")
    .values({
      id: key.id,
      account_id: key.accountId,
      name: key.name,
      hash: key.hash,
      last_four: key.lastFour,
      created_at: key.createdAt,
    })
    .execute();
}

export async function findApiKeyByHash(database: Database, hash: Buffer): Promise<ApiKey | null> {
  const row = await selectApiKeys(database).where("hash", "=", hash).executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

export async function listApiKeys(database: Database, filter: { accountId?: string }): Promise<ApiKey[]> {
  const query = selectApiKeys(database).orderBy("id");
  const rows = await (filter.accountId === undefined
    ? query
    : query.where("account_id", "=", filter.accountId)
  ).execute();
  return rows.map(toApiKey);
}

/** Keeps the first moment when a key is revoked twice. `null` when there is no such key. */
export async function updateApiKeyRevoked(database: Database, id: string, now: Date): Promise<ApiKey | null> {
  await database
    .updateTable("api_keys")
    .set({ revoked_at: now })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .execute();
  const row = await selectApiKeys(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

function selectAccounts(database: Database) {
  return database
    .selectFrom("accounts")
    .select(["id", "email", "created_at as createdAt"])
    .select((column) => column("password_hash", "is not", null).as("hasPassword"));
}

function selectApiKeys(database: Database) {
  return database
    .selectFrom("api_keys")
    .select([
      "id",
      "account_id as accountId",
      "name",
      "last_four as lastFour",
      "created_at as createdAt",
      "revoked_at as revokedAt",
    ]);
}

// The table's checks hold the prefixes of the ids.
function toAccount(row: Omit<Account, "id" | "hasPassword"> & { id: string; hasPassword: unknown }): Account {
  return { ...row, id: row.id as AccountId, hasPassword: row.hasPassword === true };
}

function toApiKey(row: Omit<ApiKey, "id" | "accountId"> & { id: string; accountId: string }): ApiKey {
  return { ...row, id: row.id as KeyId, accountId: row.accountId as AccountId };
}
