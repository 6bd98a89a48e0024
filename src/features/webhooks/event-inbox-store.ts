import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** Whether somebody hears of the account's events: an enabled endpoint, the event inbox, or who listens at the moment. */
export async function hasListener(database: Database, accountId: AccountId, now: Date): Promise<boolean> {
  const { rows } = await sql<{ is_heard: boolean }>`
    select exists (select from webhook_endpoints where account_id = ${accountId} and disabled_at is null)
      or exists (select from event_inboxes where account_id = ${accountId})
      or exists (select from webhook_sessions where account_id = ${accountId} and listening_until > ${now}) as is_heard`.execute(
    database,
  );
  return rows[0]?.is_heard === true;
}

/** The account says that it reads its events itself. */
export async function openEventInbox(database: Database, accountId: AccountId, now: Date): Promise<void> {
  await database
    .insertInto("event_inboxes")
    .values({ account_id: accountId, opened_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** From now on the account's events need somebody else who hears of them. */
export async function closeEventInbox(database: Database, accountId: AccountId): Promise<void> {
  await database.deleteFrom("event_inboxes").where("account_id", "=", accountId).execute();
}

/** Since when the account reads its events itself, or `null` when it does not. */
export async function findEventInbox(database: Database, accountId: AccountId): Promise<Date | null> {
  const row = await database
    .selectFrom("event_inboxes")
    .select("opened_at")
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row?.opened_at ?? null;
}
