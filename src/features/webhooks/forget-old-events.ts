import { readIdTime } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { dropMonths, findMonthStart } from "../../platform/database/month-store.ts";
import { findOldestPending } from "./delivery-queue-store.ts";
import { deleteEventsBefore } from "./webhook-event-store.ts";
import { deleteSessionsBefore } from "./webhook-session-store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const keptMs = 30 * dayMs;
/** An event requested at the end of its retention may still be resent. */
const graceMs = dayMs;
const deletedAtOnceMax = 1000;
/** How long an interrupted session can be resumed. */
const sessionKeptMs = dayMs;

/** The start of the retention period. Older events are hidden, and deleted with their month. */
export function findEventsKeptFrom(now: Date): Date {
  return new Date(now.getTime() - keptMs);
}

/**
 * Drops months in which every event is older than 30 days, with their deliveries; a pending delivery keeps its whole
 * month. Deletes sessions that were not read for a day.
 */
export async function forgetOldEvents(database: Database, now: Date): Promise<void> {
  await deleteSessionsBefore(database, new Date(now.getTime() - sessionKeptMs));
  const keptFrom = new Date(findEventsKeptFrom(now).getTime() - graceMs);
  const oldest = await findOldestPending(database);
  const pendingFrom = (oldest === null ? null : readIdTime(oldest)) ?? keptFrom;
  const until = pendingFrom < keptFrom ? pendingFrom : keptFrom;
  await dropMonths(database, ["delivery_attempts", "deliveries", "events"], until);
  // Rows before the first partition, or in a month with a pending delivery.
  while ((await deleteEventsBefore(database, findMonthStart(keptFrom), deletedAtOnceMax)) === deletedAtOnceMax);
}
