import { sql } from "kysely";
import type { BudgetPeriod } from "../../lib/budget.ts";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import { limitColumnNames, toLimitColumns, toLimits } from "./limit-columns.ts";

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
      is_console: key.isConsole,
      lineage_id: key.lineageId,
      logs_content: key.logsContent,
      created_at: key.createdAt,
      ...toRestrictionColumns(key),
    })
    .execute();
}

export async function updateApiKeyRow(database: Database, key: ApiKey): Promise<void> {
  await database
    .updateTable("api_keys")
    .set({
      name: key.name,
      logs_content: key.logsContent,
      revoked_at: key.revokedAt,
      ...toRestrictionColumns(key),
    })
    .where("id", "=", key.id)
    .where("account_id", "=", key.accountId)
    .execute();
}

/** All keys of a lineage share one budget, so the old key of a rotation cannot exceed it during the overlap. */
export async function updateLineageBudget(
  tx: Database,
  { lineageId, budget }: Pick<ApiKey, "lineageId" | "budget">,
): Promise<void> {
  await tx
    .updateTable("api_keys")
    .set({ budget_nano: budget?.amount ?? null, budget_period: budget?.period ?? null })
    .where("lineage_id", "=", lineageId)
    .where("revoked_at", "is", null)
    .execute();
}

/** `FOR UPDATE`, so concurrent updates don't overwrite each other. */
export async function lockApiKey(tx: Database, id: string): Promise<ApiKey | null> {
  const row = await selectApiKeys(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

export async function findApiKey(database: Database, id: string): Promise<ApiKey | null> {
  const row = await selectApiKeys(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

/** A key and the account that must own it. Other accounts' keys are not found. */
export type OwnKeyName = { accountId: AccountId; id: string };

export async function findOwnKey(database: Database, { accountId, id }: OwnKeyName): Promise<ApiKey | null> {
  const query = selectApiKeys(database).where("account_id", "=", accountId).where("id", "=", id);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

/** `FOR UPDATE`, so concurrent updates don't overwrite each other. */
export async function lockOwnKey(tx: Database, { accountId, id }: OwnKeyName): Promise<ApiKey | null> {
  const query = selectApiKeys(tx).where("account_id", "=", accountId).where("id", "=", id).forUpdate();
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

export async function findApiKeyByHash(database: Database, hash: Buffer): Promise<ApiKey | null> {
  const row = await selectApiKeys(database).where("hash", "=", hash).executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

export async function findConsoleKey(database: Database, accountId: AccountId): Promise<ApiKey | null> {
  const query = selectApiKeys(database).where("account_id", "=", accountId).where("is_console", "=", true);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

export async function listApiKeys(database: Database, filter: { accountId?: string }): Promise<ApiKey[]> {
  const query = selectApiKeys(database).orderBy("id");
  const ofAccount = filter.accountId === undefined ? query : query.where("account_id", "=", filter.accountId);
  return (await ofAccount.execute()).map(toApiKey);
}

export type KeyPage = { accountId: AccountId; status?: "live" | "ended"; after?: string; limit: number; now: Date };

/** Newest first. */
export async function listKeyPage(database: Database, page: KeyPage): Promise<ApiKey[]> {
  const { accountId, status, after, limit, now } = page;
  const isLive = sql<boolean>`(revoked_at is null and (expires_at is null or expires_at > ${now}))`;
  const query = selectApiKeys(database)
    .where("account_id", "=", accountId)
    .$if(status === "live", (live) => live.where(isLive))
    .$if(status === "ended", (ended) => ended.where(sql<boolean>`not ${isLive}`))
    .$if(after !== undefined, (rest) => rest.where("id", "<", after ?? ""))
    .orderBy("id", "desc")
    .limit(limit);
  return (await query.execute()).map(toApiKey);
}

/** Without the console's own key. */
export async function countLiveKeys(database: Database, accountId: AccountId, now: Date): Promise<number> {
  const { count } = await database
    .selectFrom("api_keys")
    .select((row) => row.fn.countAll<bigint>().as("count"))
    .where("account_id", "=", accountId)
    .where("is_console", "=", false)
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", now)]))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Advisory lock: serializes adding keys and changing budgets per account. */
export async function lockKeysOf(tx: Database, accountId: AccountId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`keys of ${accountId}`}, 0))`.execute(tx);
}

/** Newest first. */
export async function listLiveKeysByPrefix(
  database: Database,
  { accountId, prefix, now }: { accountId: AccountId; prefix: string; now: Date },
): Promise<ApiKey[]> {
  const rows = await selectApiKeys(database)
    .where("account_id", "=", accountId)
    .where((row) => row.fn("starts_with", ["name", row.val(prefix)]))
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", now)]))
    .orderBy("id", "desc")
    .execute();
  return rows.map(toApiKey);
}

/** Advisory lock: serializes replacing the key of a name. */
export async function lockKeyName(tx: Database, accountId: AccountId, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`key ${name} of ${accountId}`}, 0))`.execute(tx);
}

/** Also finds revoked and expired keys. */
export async function findNewestKeyByName(
  database: Database,
  { accountId, name }: { accountId: AccountId; name: string },
): Promise<ApiKey | null> {
  const query = selectApiKeys(database).where("account_id", "=", accountId).where("name", "=", name);
  const row = await query.orderBy("created_at", "desc").orderBy("id", "desc").limit(1).executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

export async function revokeKeysByName(
  tx: Database,
  { accountId, name, revokedAt }: { accountId: AccountId; name: string; revokedAt: Date },
): Promise<void> {
  await tx
    .updateTable("api_keys")
    .set({ revoked_at: revokedAt })
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .where("revoked_at", "is", null)
    .execute();
}

/** All keys of an account but the console's own. Returns how many. */
export async function revokeKeysOf(tx: Database, accountId: AccountId, revokedAt: Date): Promise<number> {
  const result = await tx
    .updateTable("api_keys")
    .set({ revoked_at: revokedAt })
    .where("account_id", "=", accountId)
    .where("is_console", "=", false)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Nodes write in any order, hence `least` and `greatest`. Sorted to avoid deadlocks between nodes. */
export async function upsertKeyUses(database: Database, uses: ReadonlyMap<KeyId, Date>): Promise<void> {
  const sorted = [...uses].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const keyIds = sorted.map(([keyId]) => keyId);
  const moments = sorted.map(([, usedAt]) => usedAt);
  await sql`
    insert into api_key_uses (key_id, first_used_at, last_used_at)
    select key_id, used_at, used_at
    from unnest(${keyIds}::text[], ${moments}::timestamptz[]) as use (key_id, used_at)
    on conflict (key_id) do update set
      first_used_at = least(api_key_uses.first_used_at, excluded.first_used_at),
      last_used_at = greatest(api_key_uses.last_used_at, excluded.last_used_at)
  `.execute(database);
}

/** Last use of each key, to the minute. Omits keys that were never used. */
export async function listKeyUses(database: Database, keyIds: readonly KeyId[]): Promise<Map<KeyId, Date>> {
  if (keyIds.length === 0) return new Map();
  const rows = await database
    .selectFrom("api_key_uses")
    .select(["key_id", "last_used_at"])
    .where("key_id", "in", keyIds)
    .execute();
  // The table's foreign key guarantees a key id.
  return new Map(rows.map((row) => [row.key_id as KeyId, row.last_used_at]));
}

function selectApiKeys(database: Database) {
  return database
    .selectFrom("api_keys")
    .select(["id", "account_id", "name", "last_four", "is_console", "lineage_id", "created_at", "revoked_at"])
    .select(["logs_content"])
    .select(["expires_at", "model_ids", "endpoints", "addresses", "budget_nano", "budget_period", ...limitColumnNames]);
}

type ApiKeyRow = Awaited<ReturnType<ReturnType<typeof selectApiKeys>["executeTakeFirstOrThrow"]>>;

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    // The table's check constraints guarantee the id prefixes and the period.
    id: row.id as KeyId,
    accountId: row.account_id as AccountId,
    name: row.name,
    lastFour: row.last_four,
    isConsole: row.is_console,
    lineageId: row.lineage_id as KeyId,
    logsContent: row.logs_content,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    expiresAt: row.expires_at,
    modelIds: row.model_ids,
    endpoints: row.endpoints,
    addresses: row.addresses,
    budget:
      row.budget_nano === null ? null : { amount: nano(row.budget_nano), period: row.budget_period as BudgetPeriod },
    limits: toLimits(row),
  };
}

function toRestrictionColumns(restrictions: KeyRestrictions) {
  return {
    expires_at: restrictions.expiresAt,
    model_ids: restrictions.modelIds === null ? null : [...restrictions.modelIds],
    endpoints: restrictions.endpoints === null ? null : [...restrictions.endpoints],
    addresses: restrictions.addresses === null ? null : [...restrictions.addresses],
    budget_nano: restrictions.budget?.amount ?? null,
    budget_period: restrictions.budget?.period ?? null,
    ...toLimitColumns(restrictions.limits),
  };
}
