import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** Whether the account receives its events: through an enabled endpoint, the event inbox, or an open session. */
export async function hasListener(database: Database, accountId: AccountId, now: Date): Promise<boolean> {
  const { rows } = await sql<{ has_listener: boolean }>`
    select exists (select from webhook_endpoints where account_id = ${accountId} and disabled_at is null)
      or exists (select from event_inboxes where account_id = ${accountId})
      or exists (select from webhook_sessions where account_id = ${accountId} and listening_until > ${now}) as has_listener`.execute(
    database,
  );
  return rows[0]?.has_listener === true;
}

/** Records that the account reads its events through the API. */
export async function openEventInbox(database: Database, accountId: AccountId, now: Date): Promise<void> {
  await database
    .insertInto("event_inboxes")
    .values({ account_id: accountId, opened_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** From now on the account needs an endpoint or a session to receive events. */
export async function closeEventInbox(database: Database, accountId: AccountId): Promise<void> {
  await database.deleteFrom("event_inboxes").where("account_id", "=", accountId).execute();
}

/** When the account opened its inbox, or `null`. */
export async function findEventInbox(database: Database, accountId: AccountId): Promise<Date | null> {
  const row = await database
    .selectFrom("event_inboxes")
    .select("opened_at")
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row?.opened_at ?? null;
}
