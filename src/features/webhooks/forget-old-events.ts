import type { Database } from "../../platform/database/database.ts";
import { deleteEventsBefore } from "./webhook-event-store.ts";
import { deleteSessionsBefore } from "./webhook-session-store.ts";

const keptMs = 30 * 24 * 60 * 60 * 1000;
const deletedAtOnceMax = 1000;
/** Whoever was cut off can go on listening for so long. */
const sessionKeptMs = 24 * 60 * 60 * 1000;

/**
 * Removes events that are older than 30 days, with their deliveries; one that is still on its way stays. And sessions
 * that nobody has read for a day.
 */
export async function forgetOldEvents(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keptMs);
  await deleteSessionsBefore(database, new Date(now.getTime() - sessionKeptMs));
  while ((await deleteEventsBefore(database, before, deletedAtOnceMax)) === deletedAtOnceMax);
}
