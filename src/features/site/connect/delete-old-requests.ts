import type { Database } from "../../../platform/database/database.ts";
import { deleteRequestsBefore } from "./connect-store.ts";

/** Kept this long to detect reuse of a code. */
const keptMs = 24 * 60 * 60_000;

export async function deleteOldRequests(database: Database, now: Date): Promise<void> {
  await deleteRequestsBefore(database, new Date(now.getTime() - keptMs));
}
