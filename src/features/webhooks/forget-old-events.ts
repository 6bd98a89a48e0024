import { readIdTime } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { dropMonths, findMonthStart } from "../../platform/database/month-store.ts";
import { findOldestPending } from "./delivery-queue-store.ts";
import { deleteEventsBefore } from "./webhook-event-store.ts";
import { deleteSessionsBefore } from "./webhook-session-store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const keptMs = 30 * dayMs;
/** Whoever asked for an event in its last moment may still have it sent again. */
const graceMs = dayMs;
const deletedAtOnceMax = 1000;
/** Whoever was cut off can go on listening for so long. */
const sessionKeptMs = dayMs;

/** Older events are not shown any more, and go with their month. */
export function findEventsKeptFrom(now: Date): Date {
  return new Date(now.getTime() - keptMs);
}

/**
 * Takes the months away in which every event is older than 30 days, with their deliveries; one that is still on its way
 * stays, and its month with it. And sessions that nobody has read for a day.
 */
export async function forgetOldEvents(database: Database, now: Date): Promise<void> {
  await deleteSessionsBefore(database, new Date(now.getTime() - sessionKeptMs));
  const keptFrom = new Date(findEventsKeptFrom(now).getTime() - graceMs);
  const oldest = await findOldestPending(database);
  const pendingFrom = (oldest === null ? null : readIdTime(oldest)) ?? keptFrom;
  const until = pendingFrom < keptFrom ? pendingFrom : keptFrom;
  await dropMonths(database, ["delivery_attempts", "deliveries", "events"], until);
  // What lies before the first month, or in one that something is on its way from.
  while ((await deleteEventsBefore(database, findMonthStart(keptFrom), deletedAtOnceMax)) === deletedAtOnceMax);
}
