import { sql } from "kysely";
import type { AccountId, EventId, KeyId, WebhookSessionId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { testEventType, type WebhookEvent } from "./webhook-event.ts";
import { toEvent } from "./webhook-event-store.ts";
import type { WebhookSession } from "./webhook-session.ts";

/** Makes those who open sessions of one account do it one after another, so that none exceeds the limit. */
export async function lockOpenSessionsOf(tx: Database, accountId: AccountId, now: Date): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook sessions of ${accountId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom("webhook_sessions")
    .select(({ fn }) => fn.countAll<bigint>().as("count"))
    .where("account_id", "=", accountId)
    .where("listening_until", ">", now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertSession(tx: Database, session: WebhookSession): Promise<void> {
  await tx
    .insertInto("webhook_sessions")
    .values({
      id: session.id,
      account_id: session.accountId,
      key_id: session.keyId,
      started_at: session.startedAt,
      listening_until: session.listeningUntil,
    })
    .execute();
}

export async function findSession(
  database: Database,
  accountId: AccountId,
  id: string,
): Promise<WebhookSession | null> {
  const row = await database
    .selectFrom("webhook_sessions")
    .select(["id", "account_id", "key_id", "started_at", "listening_until"])
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    // Only this feature writes ids here.
    id: row.id as WebhookSessionId,
    accountId: row.account_id as AccountId,
    keyId: row.key_id as KeyId,
    startedAt: row.started_at,
    listeningUntil: row.listening_until,
  };
}

/** The session is read by this stream from now on; whoever read it before finds that out at their next renewal. */
export async function takeSession(
  database: Database,
  { id, readerId, until }: { id: WebhookSessionId; readerId: string; until: Date },
): Promise<void> {
  await database
    .updateTable("webhook_sessions")
    .set({ reader_id: readerId, listening_until: until })
    .where("id", "=", id)
    .execute();
}

/** Whether the session still is there, and still is this stream's. */
export async function renewSession(
  database: Database,
  { id, readerId, until }: { id: WebhookSessionId; readerId: string; until: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("webhook_sessions")
    .set({ listening_until: until })
    .where("id", "=", id)
    .where("reader_id", "=", readerId)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Whether there was one. */
export async function deleteSession(database: Database, accountId: AccountId, id: string): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom("webhook_sessions")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function deleteSessionsBefore(database: Database, before: Date): Promise<void> {
  await database.deleteFrom("webhook_sessions").where("listening_until", "<", before).execute();
}

/** Oldest first. Test events are for the endpoint that they test alone. */
export async function listEventsFrom(
  database: Database,
  accountId: AccountId,
  { fromId, exceptIds, limit }: { fromId: EventId; exceptIds: readonly EventId[]; limit: number },
): Promise<WebhookEvent[]> {
  const rows = await database
    .selectFrom("events")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("id", ">=", fromId)
    .where(sql<boolean>`id <> all(${exceptIds}::text[])`)
    .where("type", "<>", testEventType)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(toEvent);
}
