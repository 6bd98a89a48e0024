import { sql } from "kysely";
import { type AccountId, type EventId, presentLeastId, type WebhookEndpointId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { Attempt, AttemptError, Delivery, DeliveryId, DeliveryState } from "./delivery.ts";
import type { WebhookEvent } from "./webhook-event.ts";

export type DeliveryFilter = {
  accountId?: AccountId;
  eventId?: string;
  endpointId?: string;
  state?: DeliveryState;
  /** Only deliveries of events from this time on. */
  keptFrom?: Date;
  after?: string | undefined;
  limit: number;
};

/** Newest first, each with its attempts in order. */
export async function listDeliveries(database: Database, filter: DeliveryFilter): Promise<Delivery[]> {
  let query = database
    .selectFrom("deliveries")
    .innerJoin("events", "events.id", "deliveries.event_id")
    .selectAll("deliveries")
    .select("events.type as event_type");
  if (filter.accountId !== undefined) query = query.where("deliveries.account_id", "=", filter.accountId);
  if (filter.eventId !== undefined) query = query.where("event_id", "=", filter.eventId);
  if (filter.endpointId !== undefined) query = query.where("endpoint_id", "=", filter.endpointId);
  if (filter.state !== undefined) query = query.where("state", "=", filter.state);
  if (filter.keptFrom !== undefined) query = query.where("event_id", ">=", presentLeastId("evt", filter.keptFrom));
  if (filter.after !== undefined) query = query.where("deliveries.id", "<", filter.after);
  const rows = await query.orderBy("deliveries.id", "desc").limit(filter.limit).execute();
  if (rows.length === 0) return [];
  const attempts = await database
    .selectFrom("delivery_attempts")
    .selectAll()
    .where(
      "delivery_id",
      "in",
      rows.map(({ id }) => id),
    )
    .orderBy("number")
    .orderBy("attempted_at")
    .execute();
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.delivery_id);
  return rows.map((row) => toDelivery(row, (byDelivery.get(row.id) ?? []).map(toAttempt)));
}

/** A destination of an event. */
export type Receiver = { id: DeliveryId; endpointId: WebhookEndpointId | null; url: string; lane: string };

/** All destinations of an event, each lane once. */
export async function listReceivers(database: Database, eventId: EventId): Promise<Omit<Receiver, "id">[]> {
  const rows = await database
    .selectFrom("deliveries")
    .select(["endpoint_id", "url", "lane"])
    .distinctOn("lane")
    .where("event_id", "=", eventId)
    .orderBy("lane")
    .orderBy("id", "desc")
    .execute();
  return rows.map(({ endpoint_id, url, lane }) => ({ endpointId: endpoint_id as WebhookEndpointId | null, url, lane }));
}

/** Inserts deliveries, due at once, and wakes their senders. A pending one becomes due instead, unless it is being sent. */
export async function insertDeliveries(
  tx: Database,
  event: { id: EventId; accountId: AccountId },
  receivers: readonly Receiver[],
  now: Date,
): Promise<void> {
  await sql`
    insert into deliveries (id, event_id, account_id, endpoint_id, url, lane, state, attempt_count, due_at, created_at)
      select id, ${event.id}, ${event.accountId}, endpoint_id, url, lane, 'pending', 0, ${now}::timestamptz,
          ${now}::timestamptz
        from unnest(${receivers.map(({ id }) => id)}::text[],
            ${receivers.map(({ endpointId }) => endpointId)}::text[], ${receivers.map(({ url }) => url)}::text[],
            ${receivers.map(({ lane }) => lane)}::text[])
          as receiver (id, endpoint_id, url, lane)
      on conflict (event_id, lane) where state = 'pending' do update set due_at = excluded.due_at
        where deliveries.lease_id is null`.execute(tx);
  await sql`select pg_notify('deliveries_due', '')`.execute(tx);
}

/** Drops all pending deliveries of removed or disabled endpoints. */
export async function dropPending(tx: Database, lanes: readonly string[]): Promise<void> {
  await sql`
    with pending as materialized (
      select id from deliveries where state = 'pending' and lane = any(${lanes}) order by id for update)
    update deliveries set state = 'dropped', due_at = null, lease_id = null
      from pending where deliveries.id = pending.id`.execute(tx);
}

/** Redirects an endpoint's pending deliveries to its new URL. */
export async function redirectPending(tx: Database, { lane, url }: { lane: string; url: string }): Promise<void> {
  await sql`
    with pending as materialized (
      select id from deliveries where state = 'pending' and lane = ${lane} order by id for update)
    update deliveries set url = ${url} from pending where deliveries.id = pending.id`.execute(tx);
}

function toDelivery(row: Tables["deliveries"] & { event_type: string }, attempts: readonly Attempt[]): Delivery {
  return {
    // Check constraints guarantee the prefixes and values.
    id: row.id as DeliveryId,
    eventId: row.event_id as EventId,
    eventType: row.event_type as WebhookEvent["type"],
    accountId: row.account_id as AccountId,
    endpointId: row.endpoint_id as WebhookEndpointId | null,
    url: row.url,
    state: row.state as DeliveryState,
    attemptCount: row.attempt_count,
    nextAttemptAt: row.lease_id === null ? row.due_at : null,
    createdAt: row.created_at,
    attempts,
  };
}

function toAttempt(row: Tables["delivery_attempts"]): Attempt {
  return {
    number: row.number,
    attemptedAt: row.attempted_at,
    durationMs: row.duration_ms,
    status: row.status,
    error: row.error as AttemptError | null,
    answer: row.answer,
  };
}
