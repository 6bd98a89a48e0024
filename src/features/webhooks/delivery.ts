import type { AccountId, EventId, WebhookEndpointId } from "../../lib/ids.ts";
import type { WebhookEvent } from "./webhook-event.ts";

export type DeliveryId = `dlv_${string}`;

/** The delivery of one event to one URL. */
export type Delivery = {
  id: DeliveryId;
  eventId: EventId;
  eventType: WebhookEvent["type"];
  accountId: AccountId;
  /** `null` for a task's `callback_url`. */
  endpointId: WebhookEndpointId | null;
  url: string;
  state: DeliveryState;
  attemptCount: number;
  /** `null` while an attempt is running, and at the end. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  attempts: readonly Attempt[];
};

/** Only `pending` changes. `dropped`: given up because the endpoint was deleted or disabled. */
export const deliveryStates = ["pending", "succeeded", "failed", "dropped"] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export type Attempt = {
  number: number;
  attemptedAt: Date;
  durationMs: number;
  /** `null` if there was no response. */
  status: number | null;
  /** `null` on success. */
  error: AttemptError | null;
  /** The beginning of the receiver's response. */
  answer: string | null;
};

export const attemptErrors = [
  "bad_status",
  "redirect",
  "timeout",
  "unreachable",
  "forbidden_address",
  "bad_answer",
  "internal_error",
] as const;

export type AttemptError = (typeof attemptErrors)[number];
