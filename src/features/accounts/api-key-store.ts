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

/** Writes what can change about a key. */
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

/** A budget is one for all keys of a line: in an overlap the older key would be a way round it. */
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

/** Locks the key until the transaction ends, so that two changes of it do not undo each other. */
export async function lockApiKey(tx: Database, id: string): Promise<ApiKey | null> {
  const row = await selectApiKeys(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

export async function findApiKey(database: Database, id: string): Promise<ApiKey | null> {
  const row = await selectApiKeys(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

/** A key by the account that it must belong to: for everybody else there is none. */
export type OwnKeyName = { accountId: AccountId; id: string };

export async function findOwnKey(database: Database, { accountId, id }: OwnKeyName): Promise<ApiKey | null> {
  const query = selectApiKeys(database).where("account_id", "=", accountId).where("id", "=", id);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

/** Locks the key until the transaction ends, so that two changes of it do not undo each other. */
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

/** Which of an account's keys: those that work, those that do not any more, or all. */
export type KeyPage = { accountId: AccountId; status?: "live" | "ended"; after?: string; limit: number; now: Date };

/** Newest first, those after the given one. */
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

/** How many keys of the account work; the console's own does not count. */
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

/** Lets one at a time add to the keys of an account or change their budgets, until the transaction ends. */
export async function lockKeysOf(tx: Database, accountId: AccountId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`keys of ${accountId}`}, 0))`.execute(tx);
}

/** The live keys of an account whose names begin so, newest first. */
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

/** Lets one at a time exchange the key of a name, until the transaction ends. */
export async function lockKeyName(tx: Database, accountId: AccountId, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`key ${name} of ${accountId}`}, 0))`.execute(tx);
}

/** The key that was made last of those with a name, whatever became of it. */
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
    // The table's checks hold the prefixes of the ids and the words of the period.
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
