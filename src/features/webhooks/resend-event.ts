import type { AccountId, EventId, IdSource } from "../../lib/ids.ts";
import { notifyAccountChange } from "../../platform/database/account-changes.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { insertDeliveries, listReceivers, type Receiver } from "./delivery-store.ts";
import { findEventsKeptFrom } from "./forget-old-events.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { nameEndpointLane, type WebhookEndpoint } from "./webhook-endpoint.ts";
import { findEndpoint } from "./webhook-endpoint-store.ts";
import { testEventType, type WebhookEvent } from "./webhook-event.ts";
import { findEvent, insertEvent } from "./webhook-event-store.ts";

type SendDependencies = Pick<WebhookDependencies, "database" | "clock" | "ids">;

/** Throws `not_found` for an expired event, and for another account's. */
export async function getEvent(
  { database, clock }: SendDependencies,
  { accountId, eventId }: { accountId: AccountId; eventId: string },
): Promise<WebhookEvent> {
  const event = await findEvent(database, accountId, eventId);
  if (event === null || event.createdAt < findEventsKeptFrom(clock.now()))
    throw new AppError("not_found", "The account has no such event.");
  return event;
}

/**
 * Delivers an event again: to one endpoint, or to all of its receivers that still exist. The id stays the same, so that
 * receivers can deduplicate.
 */
export async function resendEvent(
  dependencies: SendDependencies,
  { accountId, eventId, endpointId }: { accountId: AccountId; eventId: string; endpointId: string | null },
): Promise<void> {
  const { database, clock, ids } = dependencies;
  const { id } = await getEvent(dependencies, { accountId, eventId });
  const receivers =
    endpointId === null
      ? await listPresentReceivers(database, accountId, id)
      : [toReceiver(await getEnabledEndpoint(database, accountId, endpointId))];
  if (receivers.length === 0) {
    const message = "None of this event's receivers exists any more. Choose one of your endpoints.";
    throw new AppError("invalid_parameter", message, { param: "webhook_endpoint_id" });
  }
  await insertDeliveries(database, { id, accountId }, withIds(ids, receivers), clock.now());
  await notifyAccountChange(database, accountId, "deliveries");
}

/** Sends a test event to one endpoint, signed and retried like any other. */
export async function sendTestEvent(
  { database, clock, ids }: SendDependencies,
  { accountId, endpointId }: { accountId: AccountId; endpointId: string },
): Promise<WebhookEvent> {
  const endpoint = await getEnabledEndpoint(database, accountId, endpointId);
  const createdAt = clock.now();
  const id: EventId = ids.next("evt");
  const data = { webhook_endpoint_id: endpoint.id };
  const event: WebhookEvent = { id, accountId, type: testEventType, createdAt, data };
  await database.transaction().execute(async (tx) => {
    await insertEvent(tx, event);
    await insertDeliveries(tx, event, withIds(ids, [toReceiver(endpoint)]), createdAt);
    await notifyAccountChange(tx, accountId, "deliveries");
  });
  return event;
}

async function getEnabledEndpoint(
  database: Database,
  accountId: AccountId,
  endpointId: string,
): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(database, accountId, endpointId);
  if (endpoint === null) throw new AppError("not_found", "The account has no such webhook endpoint.");
  if (endpoint.disabled === null) return endpoint;
  throw new AppError("invalid_parameter", "The webhook endpoint is disabled. Enable it first.", { param: "enabled" });
}

async function listPresentReceivers(
  database: Database,
  accountId: AccountId,
  eventId: EventId,
): Promise<Omit<Receiver, "id">[]> {
  const present: Omit<Receiver, "id">[] = [];
  for (const receiver of await listReceivers(database, eventId)) {
    if (receiver.endpointId === null) present.push(receiver);
    else {
      const endpoint = await findEndpoint(database, accountId, receiver.endpointId);
      if (endpoint !== null && endpoint.disabled === null) present.push(toReceiver(endpoint));
    }
  }
  return present;
}

function toReceiver(endpoint: WebhookEndpoint): Omit<Receiver, "id"> {
  return { endpointId: endpoint.id, url: endpoint.url, lane: nameEndpointLane(endpoint) };
}

function withIds(ids: IdSource, receivers: readonly Omit<Receiver, "id">[]): Receiver[] {
  return receivers.map((receiver) => ({ ...receiver, id: ids.next("dlv") }));
}
