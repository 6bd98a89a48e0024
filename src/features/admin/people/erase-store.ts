import { sql } from "kysely";
import type { AccountId, UserId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

const rowsAtOnce = 5_000;

/** Rows that belong to an account alone and are no part of the books, with the column that identifies each. */
const erasedTables = [
  ...[
    ["request_contents", "id"],
    ["request_errors", "id"],
    ["request_blocks", "id"],
    ["request_gaps", "id"],
    ["requests", "id"],
    ["responses", "id"],
    ["conversations", "id"],
    ["idempotency_keys", "key"],
    ["events", "id"],
    ["webhook_sessions", "id"],
    ["webhook_endpoints", "id"],
    ["account_webhook_secrets", "account_id"],
    ["event_inboxes", "account_id"],
    ["tasks", "id"],
    ["task_orders", "client_business_id"],
    ["connect_requests", "id"],
    ["account_notices", "id"],
    ["account_notes", "id"],
    ["account_alerts", "account_id"],
    ["sign_ups", "id"],
    ["billing_details", "account_id"],
    ["auto_top_ups", "account_id"],
    ["saved_cards", "account_id"],
  ],
] as const;

/**
 * Deletes what an account stored, portion by portion, so that no transaction grows with it. Safe to repeat. Writes tables of
 * many features: what must go is a decision about all of them.
 */
export async function deleteStored(database: Database, accountId: AccountId): Promise<void> {
  for (let deleted = rowsAtOnce; deleted === rowsAtOnce; ) {
    const { rows } = await sql`
      with gone as (
        delete from deliveries where id in (
          select id from deliveries where account_id = ${accountId} order by id limit ${rowsAtOnce}) returning id),
      attempts as (delete from delivery_attempts where delivery_id in (select id from gone))
      select id from gone`.execute(database);
    deleted = rows.length;
  }
  for (const [table, key] of erasedTables) {
    for (let deleted = rowsAtOnce; deleted === rowsAtOnce; ) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} where account_id = ${accountId} and ${sql.ref(key)} in (
          select ${sql.ref(key)} from ${sql.table(table)} where account_id = ${accountId}
            order by ${sql.ref(key)} limit ${rowsAtOnce})`.execute(database);
      deleted = Math.min(Number(numAffectedRows), rowsAtOnce);
    }
  }
}

export async function countOpenTasks(database: Database, accountId: AccountId): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from tasks where account_id = ${accountId} and phase <> 'ended'`.execute(database);
  return Number(rows[0]?.count ?? 0);
}

/** Makes the account's files due for deletion. The files' own job deletes rows and bytes. */
export async function expireFiles(tx: Database, accountId: AccountId, now: Date): Promise<void> {
  await sql`
    update files set expires_at = ${now}, filename = 'erased' where account_id = ${accountId}`.execute(tx);
}

/** The columns in which operators sign with their mail address. Those of the books and of published terms are final. */
const signatures = [
  ...[
    ["admin_keys", "created_by"],
    ["admin_keys", "revoked_by"],
    ["account_notes", "author"],
    ["alarm_events", "actor"],
    ["alarm_rules", "changed_by"],
    ["blocks", "created_by"],
    ["code_batches", "created_by"],
    ["incident_updates", "created_by"],
    ["ledger_verifications", "asked_by"],
    ["operators", "granted_by"],
    ["scheduled_catalogs", "created_by"],
    ["secrets", "created_by"],
    ["upstream_switches", "created_by"],
    ["upstream_switches", "ended_by"],
  ],
] as const;

type Erased = { userId: UserId; accountId: AccountId; email: string };

/** Removes the person: user with sign-in methods and sessions, the account's address, names of keys. */
export async function deletePerson(tx: Database, { userId, accountId, email }: Erased): Promise<void> {
  for (const [table, column] of signatures) {
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${userId}
        where lower(${sql.ref(column)}) = lower(${email})`.execute(tx);
  }
  await sql`
    delete from user_tokens where lower(email) = lower(${email}) or user_id = ${userId}`.execute(tx);
  await sql`
    update account_views set reason = 'erased' where account_id = ${accountId}`.execute(tx);
  await sql`
    update api_keys set name = 'erased', addresses = null where account_id = ${accountId}`.execute(tx);
  await sql`
    update checkouts set session_url = null where account_id = ${accountId}`.execute(tx);
  await sql`
    update accounts set email = ${`erased@${accountId}.invalid`} where id = ${accountId}`.execute(tx);
  await sql`
    delete from users where id = ${userId}`.execute(tx);
}

/** Call it in the transaction that erases. */
export async function insertErasure(
  tx: Database,
  { accountId, erasedAt, endsAt }: { accountId: AccountId; erasedAt: Date; endsAt: Date },
): Promise<void> {
  await tx.insertInto("erasures").values({ account_id: accountId, erased_at: erasedAt, ends_at: endsAt }).execute();
}

/** The accounts whose erasures have not ended. */
export async function listOpenErasures(database: Database, now: Date): Promise<AccountId[]> {
  const rows = await database.selectFrom("erasures").select("account_id").where("ends_at", ">", now).execute();
  return rows.map(({ account_id: accountId }) => accountId as AccountId);
}
