/**
 * Webhooks: sends events about an account's tasks to its endpoints, and lists them.
 *
 * Promises: an event and its deliveries, one per URL, are committed with the change they describe. A delivery is retried
 * until it succeeds or its schedule is exhausted; its outcome can be read. Every attempt has the same `webhook-id` and
 * its own signature. Two senders never send a delivery at the same time; a dead sender is replaced after 20 seconds. A
 * hanging receiver delays no other. Only public addresses are called.
 */
export { checkWebhookUrl } from "./check-webhook-url.ts";
export { createEndpoint } from "./create-endpoint.ts";
export { createWebhooks, type Webhooks } from "./create-webhooks.ts";
export { type Delivery, deliveryStates } from "./delivery.ts";
export { countAttempts, readDeliveryLag } from "./delivery-queue-store.ts";
export { listDeliveries } from "./delivery-store.ts";
export { describeWebhooks } from "./describe-webhooks.ts";
export { closeEventInbox, findEventInbox, hasListener, openEventInbox } from "./event-inbox-store.ts";
export { forgetOldEvents } from "./forget-old-events.ts";
export { recordEvent } from "./record-event.ts";
export { resendEvent } from "./resend-event.ts";
export { createSecretBox } from "./secret-box.ts";
export { signEvent } from "./sign-event.ts";
export type { WebhookEndpoint } from "./webhook-endpoint.ts";
export { listEndpoints } from "./webhook-endpoint-store.ts";
export { type EventData, eventTypeNames } from "./webhook-event.ts";
export { findEventOwner } from "./webhook-event-store.ts";
