import type { AccountId } from "../../lib/ids.ts";
import { notifyAccountChange } from "../../platform/database/account-changes.ts";
import { type Database, inTransaction, isUniqueViolation } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { decideOverlapEnd } from "./account-secret.ts";
import { checkWebhookUrl, normaliseUrl } from "./check-webhook-url.ts";
import { createKnownUrl } from "./create-endpoint.ts";
import { dropPending, redirectPending } from "./delivery-store.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { nameEndpointLane, type WebhookEndpoint } from "./webhook-endpoint.ts";
import {
  deleteEndpoint,
  type EndpointChanges,
  findEndpoint,
  updateEndpoint,
  updateSecret,
} from "./webhook-endpoint-store.ts";
import type { EventType } from "./webhook-event.ts";

type RequestedChanges = {
  url?: string;
  description?: string;
  eventTypes?: readonly EventType[];
  isEnabled?: boolean;
};

type EndpointName = { accountId: AccountId; id: string };

/** Another account's endpoint does not exist for the caller. */
export async function getEndpoint(database: Database, { accountId, id }: EndpointName): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(database, accountId, id);
  if (endpoint === null) throw new AppError("not_found", "The account has no such webhook endpoint.");
  return endpoint;
}

/** Pending deliveries go to the new URL, or are dropped if the endpoint is disabled. */
export async function changeEndpoint(
  { database, clock, allowsPrivate }: WebhookDependencies,
  name: EndpointName,
  requested: RequestedChanges,
): Promise<WebhookEndpoint> {
  if (requested.url !== undefined) checkWebhookUrl(requested.url, { param: "url", allowsPrivate });
  try {
    return await inTransaction(database, async (tx) => {
      const current = await getEndpoint(tx, name);
      const changes = decideChanges(current, requested, clock.now());
      const lane = nameEndpointLane(current);
      if (changes.url !== undefined) await redirectPending(tx, { lane, url: changes.url });
      if (changes.disabled != null) await dropPending(tx, [lane]);
      await updateEndpoint(tx, current.id, changes);
      await notifyAccountChange(tx, name.accountId, "deliveries");
      return await getEndpoint(tx, name);
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw createKnownUrl();
    throw error;
  }
}

function decideChanges(current: WebhookEndpoint, requested: RequestedChanges, now: Date): EndpointChanges {
  const { url, description, eventTypes, isEnabled } = requested;
  const changesState = isEnabled !== undefined && isEnabled === (current.disabled !== null);
  return {
    ...(url === undefined ? {} : { url: normaliseUrl(url) }),
    ...(description === undefined ? {} : { description }),
    ...(eventTypes === undefined ? {} : { eventTypes: [...new Set(eventTypes)] }),
    ...(changesState ? { disabled: isEnabled ? null : { at: now, reason: "owner" as const } } : {}),
  };
}

/** Drops pending deliveries. */
export async function removeEndpoint(database: Database, name: EndpointName): Promise<void> {
  await inTransaction(database, async (tx) => {
    const endpoint = await getEndpoint(tx, name);
    await dropPending(tx, [nameEndpointLane(endpoint)]);
    await deleteEndpoint(tx, endpoint.id);
    await notifyAccountChange(tx, name.accountId, "deliveries");
  });
}

/** Until the previous secret expires, events have two signatures. */
export async function rotateEndpointSecret(
  { database, clock, secretBox }: WebhookDependencies,
  name: EndpointName,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { id } = await getEndpoint(database, name);
  const { text, sealed } = secretBox.make(id);
  await updateSecret(database, { id }, { sealed, previousUntil: decideOverlapEnd(clock.now()) });
  return { endpoint: await getEndpoint(database, name), secret: text };
}
