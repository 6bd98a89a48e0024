import { createHash } from "node:crypto";
import type { AccountId, EventId, IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { normaliseUrl } from "./check-webhook-url.ts";
import { endpointsMax } from "./webhook-endpoint.ts";
import type { EventData, EventType } from "./webhook-event.ts";
import { insertEventWithDeliveries } from "./webhook-event-store.ts";

type NewEvent = {
  id: EventId;
  accountId: AccountId;
  type: EventType;
  createdAt: Date;
  data: EventData;
  /** Checked by `checkWebhookUrl`. */
  callbackUrl: string | null;
  /** The span that caused the event. */
  traceparent?: string | null;
};

/**
 * Records an event and its deliveries in the caller's transaction: one for each enabled endpoint whose filter matches,
 * and one for the callback URL, each URL once. Dispatchers poll for them after the commit.
 */
export async function recordEvent(tx: Database, event: NewEvent, { ids }: { ids: IdSource }): Promise<void> {
  const { callbackUrl, ...rest } = event;
  const url = callbackUrl === null ? null : normaliseUrl(callbackUrl);
  await insertEventWithDeliveries(tx, rest, {
    callback: url === null ? null : { url, lane: nameCallbackLane(event.accountId, url) },
    // The maximum; the statement that inserts them knows how many are needed.
    deliveryIds: Array.from({ length: endpointsMax + 1 }, () => ids.next("dlv")),
  });
}

/** All callbacks to one origin share a lane, so that a dead server cannot look like many slow ones. */
function nameCallbackLane(accountId: AccountId, url: string): string {
  return `${accountId}/${createHash("sha256").update(new URL(url).origin).digest("base64url").slice(0, 22)}`;
}
