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
  /** Has passed `checkWebhookUrl`. */
  callbackUrl: string | null;
  /** The span that it comes of. */
  traceparent?: string | null;
};

/**
 * Records an event and who is to hear of it, in the transaction that makes it true: every enabled endpoint of the
 * account whose filter matches, and the callback URL, each URL once. Dispatchers find it a moment after it commits.
 */
export async function recordEvent(tx: Database, event: NewEvent, { ids }: { ids: IdSource }): Promise<void> {
  const { callbackUrl, ...rest } = event;
  const url = callbackUrl === null ? null : normaliseUrl(callbackUrl);
  await insertEventWithDeliveries(tx, rest, {
    callback: url === null ? null : { url, lane: nameCallbackLane(event.accountId, url) },
    // As many as can be needed: how many are is only known where they are inserted.
    deliveryIds: Array.from({ length: endpointsMax + 1 }, () => ids.next("dlv")),
  });
}

/**
 * Callbacks to one server wait in one line however much their paths differ, so that the account's dead server cannot
 * look like many slow ones.
 */
function nameCallbackLane(accountId: AccountId, url: string): string {
  return `${accountId}/${createHash("sha256").update(new URL(url).origin).digest("base64url").slice(0, 22)}`;
}
