import type { AccountId, EventId, WebhookEndpointId } from "../../lib/ids.ts";
import type { WebhookEvent } from "./webhook-event.ts";

export type DeliveryId = `dlv_${string}`;

/** One event on its way to one address. */
export type Delivery = {
  id: DeliveryId;
  eventId: EventId;
  eventType: WebhookEvent["type"];
  accountId: AccountId;
  /** `null` for a request's own callback URL. */
  endpointId: WebhookEndpointId | null;
  url: string;
  state: DeliveryState;
  attemptCount: number;
  /** `null` while an attempt is under way, and at the end. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  attempts: readonly Attempt[];
};

/** Only what is pending changes: the others are ends. What was given up because its endpoint has gone is dropped. */
export const deliveryStates = ["pending", "succeeded", "failed", "dropped"] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export type Attempt = {
  number: number;
  attemptedAt: Date;
  durationMs: number;
  /** `null` where there was no answer. */
  status: number | null;
  /** `null` where it succeeded. */
  error: AttemptError | null;
  /** The beginning of what the receiver answered. */
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
