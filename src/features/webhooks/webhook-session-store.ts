import { sql } from "kysely";
import type { AccountId, EventId, KeyId, WebhookSessionId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { testEventType, type WebhookEvent } from "./webhook-event.ts";
import { toEvent } from "./webhook-event-store.ts";
import type { WebhookSession } from "./webhook-session.ts";

/** Counts an account's open sessions under an advisory lock, so that concurrent requests cannot exceed the limit. */
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

/** Assigns the session to this stream; the previous stream notices at its next renewal. */
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

/** Returns `false` if the session is gone or another stream has taken it over. */
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

/** Returns whether the session existed. */
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

/** Oldest first. Excludes test events, which go only to the endpoint under test. */
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
