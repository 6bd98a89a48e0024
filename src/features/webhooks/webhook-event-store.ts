import { sql } from "kysely";
import { type AccountId, type EventId, presentLeastId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { DeliveryId } from "./delivery.ts";
import type { WebhookEvent } from "./webhook-event.ts";

/**
 * One statement, because it is part of every task's last transaction. No NOTIFY: notifying transactions commit one after
 * another, each waiting for the disk. Dispatchers poll often enough.
 */
export async function insertEventWithDeliveries(
  tx: Database,
  event: WebhookEvent,
  receivers: { callback: { url: string; lane: string } | null; deliveryIds: readonly DeliveryId[] },
): Promise<void> {
  const { callback, deliveryIds } = receivers;
  await sql`
    with event as (
        insert into events (id, account_id, type, data, created_at, traceparent)
          values (${event.id}, ${event.accountId}, ${event.type}, ${JSON.stringify(event.data)}, ${event.createdAt},
            ${event.traceparent ?? null})),
      endpoints as (
        select id, url, account_id || '/' || id as lane from webhook_endpoints
          where account_id = ${event.accountId} and disabled_at is null
            and (event_types = '{}' or ${event.type} = any(event_types))),
      receivers as (
        select id, url, lane from endpoints
        union all
        select null, ${callback?.url ?? null}::text, ${callback?.lane ?? null}::text
          where ${callback !== null} and not exists (select from endpoints where url = ${callback?.url ?? null}))
    insert into deliveries (id, event_id, account_id, endpoint_id, url, lane, state, attempt_count, due_at, created_at)
      select (${deliveryIds}::text[])[(row_number() over ())::int], ${event.id}, ${event.accountId}, id, url, lane,
          'pending', 0, ${event.createdAt}::timestamptz, ${event.createdAt}::timestamptz
        from receivers`.execute(tx);
}

export async function insertEvent(tx: Database, event: WebhookEvent): Promise<void> {
  const { id, accountId, type, createdAt, data, traceparent = null } = event;
  await tx
    .insertInto("events")
    .values({ id, account_id: accountId, type, data: JSON.stringify(data), created_at: createdAt, traceparent })
    .execute();
}

export async function findEvent(database: Database, accountId: AccountId, id: string): Promise<WebhookEvent | null> {
  const row = await database
    .selectFrom("events")
    .selectAll()
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row === undefined ? null : toEvent(row);
}

/** The event's account, for operators. */
export async function findEventOwner(database: Database, id: string): Promise<AccountId | null> {
  const row = await database.selectFrom("events").select("account_id").where("id", "=", id).executeTakeFirst();
  return (row?.account_id ?? null) as AccountId | null;
}

type EventFilter = { type?: string | undefined; taskId?: string | undefined; after?: string | undefined };

/** Events since `keptFrom`, newest first. */
export async function listEvents(
  database: Database,
  accountId: AccountId,
  { type, taskId, after, keptFrom, limit }: EventFilter & { keptFrom: Date; limit: number },
): Promise<WebhookEvent[]> {
  let query = database
    .selectFrom("events")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("id", ">=", presentLeastId("evt", keptFrom));
  if (type !== undefined) query = query.where("type", "=", type);
  // The expression of the index.
  if (taskId !== undefined) query = query.where(sql`data ->> 'task_id'`, "=", taskId);
  if (after !== undefined) query = query.where("id", "<", after);
  return (await query.orderBy("id", "desc").limit(limit).execute()).map(toEvent);
}

/** Deletes some of the events older than a time and without pending deliveries, with all their deliveries. */
export async function deleteEventsBefore(database: Database, before: Date, countMax: number): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    with gone as (
        select id from events
          where id < ${presentLeastId("evt", before)}
            and not exists (select from deliveries where event_id = events.id and state = 'pending')
          order by id limit ${countMax}),
      gone_events as (delete from events where id in (select id from gone) returning id),
      gone_deliveries as (delete from deliveries where event_id in (select id from gone) returning id),
      gone_attempts as (delete from delivery_attempts where delivery_id in (
        select id from deliveries where event_id in (select id from gone)))
    select count(*) as count from gone_events`.execute(database);
  return Number(rows[0]?.count ?? 0n);
}

export function toEvent(row: Tables["events"]): WebhookEvent {
  return {
    // Check constraints guarantee the prefix; only this feature writes types and data.
    id: row.id as EventId,
    accountId: row.account_id as AccountId,
    type: row.type as WebhookEvent["type"],
    createdAt: row.created_at,
    data: row.data as WebhookEvent["data"],
    traceparent: row.traceparent,
  };
}
