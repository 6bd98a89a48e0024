import type { WebhookEndpointId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { AttemptOutcome } from "./attempt-delivery.ts";
import { type ClaimedDelivery, relaxDurability, writeResults } from "./delivery-queue-store.ts";
import { dropPending } from "./delivery-store.ts";
import { nameEndpointLane, type WebhookEndpoint } from "./webhook-endpoint.ts";
import { disableFailing, type EndpointHealth, updateHealth } from "./webhook-endpoint-store.ts";

export type FinishedDelivery = AttemptOutcome & { delivery: ClaimedDelivery };

const failingMsMax = 5 * 24 * 60 * 60 * 1000;

/**
 * Writes the outcomes of attempts, and disables endpoints that answered 410 or have failed for five days without a
 * success. Returns the disabled ones. Lock order: deliveries, then endpoints. Deliveries left for disabled endpoints are
 * dropped afterwards; a sender that claims one meanwhile drops it too.
 */
export async function finishDeliveries(
  database: Database,
  finished: readonly FinishedDelivery[],
  { leaseId, now }: { leaseId: string; now: Date },
): Promise<WebhookEndpoint[]> {
  const results = finished.map(({ result }) => result);
  const health = summariseHealth(finished);
  const disabled = await database.transaction().execute(async (tx) => {
    await relaxDurability(tx);
    await writeResults(tx, leaseId, results);
    if (health.length === 0) return [];
    await updateHealth(tx, health);
    if (health.every(({ failedAt }) => failedAt === null)) return [];
    return await disableFailing(tx, health, { failingBefore: new Date(now.getTime() - failingMsMax), now });
  });
  if (disabled.length > 0) await dropPending(database, disabled.map(nameEndpointLane));
  return disabled;
}

/** Summarizes each endpoint's attempts, in the order in which they ended. */
function summariseHealth(finished: readonly FinishedDelivery[]): EndpointHealth[] {
  const byEndpoint = new Map<WebhookEndpointId, EndpointHealth>();
  for (const { delivery, result, isGone } of finished) {
    const { endpointId } = delivery;
    if (endpointId === null) continue;
    const before = byEndpoint.get(endpointId) ?? { endpointId, hasSucceeded: false, failedAt: null, isGone: false };
    const hasSucceeded = result.state === "succeeded";
    byEndpoint.set(endpointId, {
      endpointId,
      hasSucceeded: before.hasSucceeded || hasSucceeded,
      failedAt: hasSucceeded ? null : (before.failedAt ?? result.attempt.attemptedAt),
      isGone: before.isGone || isGone,
    });
  }
  return [...byEndpoint.values()];
}
