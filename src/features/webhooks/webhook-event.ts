import type { AccountId, EventId } from "../../lib/ids.ts";

/** What an account can be told of, and what the reference says of it. */
export const eventTypes = {
  "task.succeeded": "A task has its output.",
  "task.failed": "A task has failed; `data.error` says why. It costs nothing.",
  "task.canceled": "A task was canceled.",
  "task.expired": "A task did not end before its deadline. It costs nothing.",
} as const;

export type EventType = keyof typeof eventTypes;

/** Sent on request, to one endpoint, whatever its filter says. */
export const testEventType = "webhook.test";

export type EventData = Readonly<Record<string, unknown>>;

/** As it is kept: links to files are signed whenever it is sent or read. */
export type WebhookEvent = {
  id: EventId;
  accountId: AccountId;
  type: EventType | typeof testEventType;
  createdAt: Date;
  data: EventData;
  /** The span that it comes of, which its deliveries belong to; `null` where nothing was traced. */
  traceparent?: string | null;
};

/** Turns kept data into what a receiver or reader gets at the moment. */
export type PresentData = (data: EventData, now: Date) => object;

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

/** The event as its receivers and readers see it. */
export function presentEvent(
  { id, type, createdAt, data }: WebhookEvent,
  presentData: PresentData,
  now: Date,
): { id: EventId; type: string; created: number; data: object } {
  const created = Math.floor(createdAt.getTime() / 1000);
  // A test event is ours and links to nothing.
  return { id, type, created, data: type === testEventType ? data : presentData(data, now) };
}
