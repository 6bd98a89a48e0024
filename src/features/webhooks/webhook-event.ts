import type { AccountId, EventId } from "../../lib/ids.ts";

/** The event types, with their descriptions for the reference. */
export const eventTypes = {
  "task.succeeded": "A task has succeeded.",
  "task.failed": "A task has failed. See `data.error` for the reason. It costs nothing.",
  "task.canceled": "A task was canceled.",
  "task.expired": "A task has not ended before its deadline. It costs nothing.",
} as const;

export type EventType = keyof typeof eventTypes;

/** Sent on request to one endpoint, regardless of its filter. */
export const testEventType = "webhook.test";

export type EventData = Readonly<Record<string, unknown>>;

/** As stored; links to files are signed when the event is sent or read. */
export type WebhookEvent = {
  id: EventId;
  accountId: AccountId;
  type: EventType | typeof testEventType;
  createdAt: Date;
  data: EventData;
  /** The span that caused the event; `null` if it was not traced. */
  traceparent?: string | null;
};

/** Turns stored data into what receivers get, with signed links. */
export type PresentData = (data: EventData, now: Date) => object;

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

/** The event as receivers and readers see it. */
export function presentEvent(
  { id, type, createdAt, data }: WebhookEvent,
  presentData: PresentData,
  now: Date,
): { id: EventId; type: string; created: number; data: object } {
  const created = Math.floor(createdAt.getTime() / 1000);
  // A test event has no links.
  return { id, type, created, data: type === testEventType ? data : presentData(data, now) };
}
