/**
 * Webhooks: what happened to an account's tasks is told to whoever it named, and can be read again.
 *
 * Promises: an event exists if and only if what it tells of does, and so do its deliveries: each address once. A
 * delivery is attempted until it succeeds or its schedule is used up, then its end is there to be read. Every attempt
 * has the same `webhook-id` and a signature of its own. Two senders never send a delivery at the same time; one that
 * dies is replaced after 20 seconds. A receiver that hangs delays nobody else. Only public addresses are called.
 */
export { checkWebhookUrl } from "./check-webhook-url.ts";
export { createEndpoint } from "./create-endpoint.ts";
export { createWebhooks, type Webhooks } from "./create-webhooks.ts";
export { type Delivery, deliveryStates } from "./delivery.ts";
export { readDeliveryLag } from "./delivery-queue-store.ts";
export { listDeliveries } from "./delivery-store.ts";
export { describeWebhooks } from "./describe-webhooks.ts";
export { closeEventInbox, findEventInbox, hasListener, openEventInbox } from "./event-inbox-store.ts";
export { forgetOldEvents } from "./forget-old-events.ts";
export { recordEvent } from "./record-event.ts";
export { resendEvent } from "./resend-event.ts";
export { createSecretBox } from "./secret-box.ts";
export type { WebhookEndpoint } from "./webhook-endpoint.ts";
export { listEndpoints } from "./webhook-endpoint-store.ts";
export { type EventData, eventTypeNames } from "./webhook-event.ts";
export { findEventOwner } from "./webhook-event-store.ts";
