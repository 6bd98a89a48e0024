import type { Database } from "../../../platform/database/database.ts";
import { deleteRequestsBefore } from "./connect-store.ts";

/** For so long, a second use of a code is known as such. */
const keptMs = 24 * 60 * 60_000;

/** Removes requests whose time has been over for a day. */
export async function forgetOldRequests(database: Database, now: Date): Promise<void> {
  await deleteRequestsBefore(database, new Date(now.getTime() - keptMs));
}
