import type { Database } from "../../platform/database/database.ts";
import { deleteEventsBefore } from "./webhook-event-store.ts";

const keptMs = 30 * 24 * 60 * 60 * 1000;
const deletedAtOnceMax = 1000;

/** Removes events that are older than 30 days, with their deliveries; one that is still on its way stays. */
export async function forgetOldEvents(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keptMs);
  while ((await deleteEventsBefore(database, before, deletedAtOnceMax)) === deletedAtOnceMax);
}
