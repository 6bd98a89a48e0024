import { sql } from "kysely";
import { type AccountId, type EventId, presentLeastId, type WebhookEndpointId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Attempt, DeliveryId, DeliveryState } from "./delivery.ts";
import type { WebhookEvent } from "./webhook-event.ts";

/** A delivery leased by a sender, with everything it needs. */
export type ClaimedDelivery = {
  id: DeliveryId;
  lane: string;
  endpointId: WebhookEndpointId | null;
  url: string;
  /** Attempts so far. */
  attemptCount: number;
  event: WebhookEvent;
  /** `null` if the endpoint was deleted or disabled meanwhile, or the account has no secret yet. */
  sealed: SealedSecrets | null;
};

export type SealedSecrets = { current: Buffer; previous: Buffer | null; previousUntil: Date | null };

/** The outcome of an attempt and the delivery's next state. */
export type DeliveryResult = {
  id: DeliveryId;
  state: Exclude<DeliveryState, "dropped">;
  /** When the next attempt is due, while pending. */
  dueAt: Date | null;
  attempt: Attempt;
};

const lanesMax = 10_000;

/**
 * Lanes with due deliveries; if there are none, only `nextDueAt`, unless nothing is pending. A loose index scan: one step per
 * lane, however many deliveries wait in it.
 */
export async function listDueLanes(
  database: Database,
  now: Date,
): Promise<{ dueLanes: string[]; nextDueAt: Date | null }> {
  const { rows } = await sql<{ lane: string; due_at: Date }>`
    with recursive firsts as (
      (select lane, due_at from deliveries where state = 'pending' order by lane, due_at limit 1)
      union all
      select following.lane, following.due_at from firsts cross join lateral (
        select lane, due_at from deliveries where state = 'pending' and lane > firsts.lane
          order by lane, due_at limit 1) following)
    select lane, due_at from firsts where due_at <= greatest(${now}, (select min(due_at) from firsts))
      limit ${lanesMax}`.execute(database);
  const due = rows.filter((row) => row.due_at <= now);
  return { dueLanes: due.map(({ lane }) => lane), nextDueAt: rows[0]?.due_at ?? null };
}

/** Pending deliveries, and since when the longest-due one is due. */
export type DeliveryLag = { pending: number; oldestDueAt: Date | null };

export async function readDeliveryLag(database: Database): Promise<DeliveryLag> {
  const { rows } = await sql<DeliveryLag>`
    select count(*)::float8 as pending, min(due_at) as "oldestDueAt" from deliveries where state = 'pending'`.execute(
    database,
  );
  return rows[0] ?? { pending: 0, oldestDueAt: null };
}

/** Attempts of deliveries that were created since, and how many accounts they belong to. */
export type DeliveryAttempts = { attempts: number; failed: number; accounts: number; failedAccounts: number };

export async function countAttempts(database: Database, since: Date): Promise<DeliveryAttempts> {
  const { rows } = await sql<DeliveryAttempts>`
    select count(*)::float8 as attempts, (count(*) filter (where error is not null))::float8 as failed,
        count(distinct account_id)::float8 as accounts,
        (count(distinct account_id) filter (where error is not null))::float8 as "failedAccounts"
      from delivery_attempts attempt join deliveries on deliveries.id = attempt.delivery_id
      where attempt.delivery_id >= ${presentLeastId("dlv", since)} and deliveries.id >= ${presentLeastId("dlv", since)}`.execute(
    database,
  );
  return rows[0] ?? { attempts: 0, failed: 0, accounts: 0, failedAccounts: 0 };
}

/** The oldest event with a pending delivery. */
export async function findOldestPending(database: Database): Promise<EventId | null> {
  const { rows } = await sql<{ event_id: EventId | null }>`
    select min(event_id) as event_id from deliveries where state = 'pending'`.execute(database);
  return rows[0]?.event_id ?? null;
}

type ClaimRow = {
  id: DeliveryId;
  lane: string;
  endpoint_id: WebhookEndpointId | null;
  url: string;
  attempt_count: number;
  event_id: EventId;
  account_id: AccountId;
  type: WebhookEvent["type"];
  data: WebhookEvent["data"];
  created_at: Date;
  traceparent: string | null;
  sealed_secret: Buffer | null;
  sealed_previous_secret: Buffer | null;
  previous_secret_until: Date | null;
};

/**
 * Commits without waiting for the disk. A crash of the database server may lose a claim or a result; the delivery is
 * then
 * repeated with the same id, as after any crash.
 */
export async function relaxDurability(tx: Database): Promise<void> {
  await sql`set local synchronous_commit = off`.execute(tx);
}

/**
 * Leases due deliveries to a sender, from each lane no more than requested. `FOR UPDATE SKIP LOCKED`: skip rows another
 * sender is claiming.
 */
export async function claimDeliveries(
  tx: Database,
  claimSizes: ReadonlyMap<string, number>,
  { leaseId, leaseUntil, now }: { leaseId: string; leaseUntil: Date; now: Date },
): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimRow>`
    with sizes as (
        select * from unnest(${[...claimSizes.keys()]}::text[], ${[...claimSizes.values()]}::int[]) as size (lane, count)),
      due as (
        select found.id from sizes cross join lateral (
          select id from deliveries where lane = sizes.lane and state = 'pending' and due_at <= ${now}
            order by due_at limit sizes.count for update skip locked) found),
      claimed as (
        update deliveries set lease_id = ${leaseId}, due_at = ${leaseUntil}
          from due where deliveries.id = due.id
          returning deliveries.*)
    select claimed.id, claimed.lane, claimed.endpoint_id, claimed.url, claimed.attempt_count, claimed.event_id,
        claimed.account_id, events.type, events.data, events.created_at, events.traceparent,
        coalesce(endpoint.sealed_secret, own.sealed_secret) as sealed_secret,
        coalesce(endpoint.sealed_previous_secret, own.sealed_previous_secret) as sealed_previous_secret,
        coalesce(endpoint.previous_secret_until, own.previous_secret_until) as previous_secret_until
      from claimed join events on events.id = claimed.event_id
        left join webhook_endpoints endpoint on endpoint.id = claimed.endpoint_id and endpoint.disabled_at is null
        left join account_webhook_secrets own
          on own.account_id = claimed.account_id and claimed.endpoint_id is null`.execute(tx);
  return rows.map(toClaimed);
}

function toClaimed(row: ClaimRow): ClaimedDelivery {
  const { sealed_secret: current, sealed_previous_secret: previous, previous_secret_until: previousUntil } = row;
  return {
    id: row.id,
    lane: row.lane,
    endpointId: row.endpoint_id,
    url: row.url,
    attemptCount: row.attempt_count,
    event: {
      ...{ id: row.event_id, accountId: row.account_id, type: row.type, createdAt: row.created_at, data: row.data },
      traceparent: row.traceparent,
    },
    sealed: current === null ? null : { current, previous, previousUntil },
  };
}

/**
 * Logs attempts and updates their deliveries. Skips deliveries that were claimed by another sender or dropped meanwhile.
 * Locks rows in id order to prevent deadlocks.
 */
export async function writeResults(tx: Database, leaseId: string, results: readonly DeliveryResult[]): Promise<void> {
  const attempts = results.map(({ attempt }) => attempt);
  await sql`
    with results as (
        select * from unnest(
            ${results.map(({ id }) => id)}::text[], ${results.map(({ state }) => state)}::text[],
            ${results.map(({ dueAt }) => dueAt)}::timestamptz[], ${attempts.map(({ number }) => number)}::smallint[],
            ${attempts.map(({ attemptedAt }) => attemptedAt)}::timestamptz[],
            ${attempts.map(({ durationMs }) => durationMs)}::int[], ${attempts.map(({ status }) => status)}::smallint[],
            ${attempts.map(({ error }) => error)}::text[], ${attempts.map(({ answer }) => answer)}::text[])
          as result (id, state, due_at, number, attempted_at, duration_ms, status, error, answer)),
      logged as (
        insert into delivery_attempts
            (delivery_id, number, lease_id, attempted_at, duration_ms, status, error, answer)
          select id, number, ${leaseId}, attempted_at, duration_ms, status, error, answer from results
          on conflict do nothing),
      own as materialized (
        select id from deliveries where id in (select id from results) and lease_id = ${leaseId}
          order by id for update)
    update deliveries set state = results.state, attempt_count = results.number, due_at = results.due_at, lease_id = null
      from results, own where deliveries.id = results.id and own.id = results.id`.execute(tx);
}

/** Renews a sender's leases; returns the ids it still holds. */
export async function renewLeases(
  database: Database,
  ids: readonly DeliveryId[],
  { leaseId, leaseUntil }: { leaseId: string; leaseUntil: Date },
): Promise<DeliveryId[]> {
  const { rows } = await sql<{ id: DeliveryId }>`
    with own as materialized (
      select id from deliveries where id = any(${ids}) and lease_id = ${leaseId} order by id for update)
    update deliveries set due_at = ${leaseUntil} from own where deliveries.id = own.id
      returning deliveries.id`.execute(database);
  return rows.map(({ id }) => id);
}

/** Releases leases of deliveries that were not sent: they are due at once for any sender. */
export async function releaseLeases(
  database: Database,
  ids: readonly DeliveryId[],
  { leaseId, now }: { leaseId: string; now: Date },
): Promise<void> {
  await sql`
    with own as materialized (
        select id from deliveries where id = any(${ids}) and lease_id = ${leaseId} order by id for update)
    update deliveries set due_at = ${now}, lease_id = null from own where deliveries.id = own.id`.execute(database);
}

/** Drops a sender's deliveries whose endpoint is gone. */
export async function dropClaimed(database: Database, ids: readonly DeliveryId[], leaseId: string): Promise<void> {
  await sql`
    with own as materialized (
      select id from deliveries where id = any(${ids}) and lease_id = ${leaseId} order by id for update)
    update deliveries set state = 'dropped', due_at = null, lease_id = null
      from own where deliveries.id = own.id`.execute(database);
}
