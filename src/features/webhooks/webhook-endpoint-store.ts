import { sql } from "kysely";
import type { AccountId, WebhookEndpointId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { DisabledReason, WebhookEndpoint } from "./webhook-endpoint.ts";

/** Counts an account's endpoints under an advisory lock, so that concurrent requests cannot exceed the limit. */
export async function lockEndpointsOf(tx: Database, accountId: AccountId): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook endpoints of ${accountId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom("webhook_endpoints")
    .select(({ fn }) => fn.countAll<bigint>().as("count"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns `false` if the account already has an endpoint with this URL. */
export async function insertEndpoint(tx: Database, endpoint: WebhookEndpoint, sealedSecret: Buffer): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("webhook_endpoints")
    .values({
      id: endpoint.id,
      account_id: endpoint.accountId,
      url: endpoint.url,
      description: endpoint.description,
      event_types: [...endpoint.eventTypes],
      sealed_secret: sealedSecret,
      created_at: endpoint.createdAt,
    })
    .onConflict((conflict) => conflict.columns(["account_id", "url"]).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function findEndpoint(
  database: Database,
  accountId: AccountId,
  id: string,
): Promise<WebhookEndpoint | null> {
  const row = await selectEndpoints(database)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row === undefined ? null : toEndpoint(row);
}

export type EndpointFilter = { accountId?: AccountId; after?: string | undefined; limit: number };

/** Newest first. */
export async function listEndpoints(
  database: Database,
  { accountId, after, limit }: EndpointFilter,
): Promise<WebhookEndpoint[]> {
  let query = selectEndpoints(database);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  if (after !== undefined) query = query.where("id", "<", after);
  return (await query.orderBy("id", "desc").limit(limit).execute()).map(toEndpoint);
}

/** Fields that an owner can change; omitted ones are unchanged. `disabled: null` enables and clears past failures. */
export type EndpointChanges = Partial<Pick<WebhookEndpoint, "url" | "description" | "eventTypes" | "disabled">>;

export async function updateEndpoint(tx: Database, id: WebhookEndpointId, changes: EndpointChanges): Promise<void> {
  const { url, description, eventTypes, disabled } = changes;
  await tx
    .updateTable("webhook_endpoints")
    .set({
      // An update needs at least one column.
      id,
      ...(url === undefined ? {} : { url }),
      ...(description === undefined ? {} : { description }),
      ...(eventTypes === undefined ? {} : { event_types: [...eventTypes] }),
      ...(disabled === undefined
        ? {}
        : { disabled_at: disabled?.at ?? null, disabled_reason: disabled?.reason ?? null, failing_since: null }),
    })
    .where("id", "=", id)
    .execute();
}

/** Keeps the current secret as the previous one. */
export async function updateSecret(
  database: Database,
  endpoint: Pick<WebhookEndpoint, "id">,
  { sealed, previousUntil }: { sealed: Buffer; previousUntil: Date },
): Promise<void> {
  await database
    .updateTable("webhook_endpoints")
    .set(({ ref }) => ({
      sealed_previous_secret: ref("sealed_secret"),
      previous_secret_until: previousUntil,
      sealed_secret: sealed,
    }))
    .where("id", "=", endpoint.id)
    .execute();
}

export async function deleteEndpoint(tx: Database, id: WebhookEndpointId): Promise<void> {
  await tx.deleteFrom("webhook_endpoints").where("id", "=", id).execute();
}

/** A summary of an endpoint's latest attempts. */
export type EndpointHealth = {
  endpointId: WebhookEndpointId;
  /** Whether one of them succeeded. */
  hasSucceeded: boolean;
  /** The first failure after the last success. */
  failedAt: Date | null;
  isGone: boolean;
};

/** Updates only endpoints whose health changes, so that successful deliveries cause no writes. */
export async function updateHealth(tx: Database, health: readonly EndpointHealth[]): Promise<void> {
  await sql`
    with health as (
        select * from unnest(${health.map(({ endpointId }) => endpointId)}::text[],
            ${health.map(({ hasSucceeded }) => hasSucceeded)}::boolean[],
            ${health.map(({ failedAt }) => failedAt)}::timestamptz[])
          as item (id, has_succeeded, failed_at)),
      changed as materialized (
        select endpoint.id, case when has_succeeded then failed_at else coalesce(failing_since, failed_at) end as since
          from webhook_endpoints endpoint join health on health.id = endpoint.id
          where failing_since is not null or failed_at is not null
          order by endpoint.id for update of endpoint)
    update webhook_endpoints set failing_since = changed.since from changed
      where webhook_endpoints.id = changed.id and failing_since is distinct from changed.since`.execute(tx);
}

/** Disables endpoints that are gone, or have been failing for too long; returns them. */
export async function disableFailing(
  tx: Database,
  health: readonly EndpointHealth[],
  { failingBefore, now }: { failingBefore: Date; now: Date },
): Promise<WebhookEndpoint[]> {
  const goneIds = health.filter(({ isGone }) => isGone).map(({ endpointId }) => endpointId);
  const failedIds = health.filter(({ failedAt }) => failedAt !== null).map(({ endpointId }) => endpointId);
  const { rows } = await sql<Tables["webhook_endpoints"]>`
    update webhook_endpoints
      set disabled_at = ${now}, disabled_reason = case when id = any(${goneIds}::text[]) then 'gone' else 'failing' end
      where disabled_at is null
        and (id = any(${goneIds}::text[]) or (id = any(${failedIds}::text[]) and failing_since <= ${failingBefore}))
      returning *`.execute(tx);
  return rows.map(toEndpoint);
}

function selectEndpoints(database: Database) {
  return database.selectFrom("webhook_endpoints").selectAll();
}

function toEndpoint(row: Tables["webhook_endpoints"]): WebhookEndpoint {
  return {
    // Check constraints guarantee the prefix and values.
    id: row.id as WebhookEndpointId,
    accountId: row.account_id as AccountId,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types,
    previousSecretUntil: row.previous_secret_until,
    failingSince: row.failing_since,
    disabled: row.disabled_at === null ? null : { at: row.disabled_at, reason: row.disabled_reason as DisabledReason },
    createdAt: row.created_at,
  };
}
