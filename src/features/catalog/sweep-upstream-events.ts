import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { silentNodeMs } from "./publish-health.ts";
import { replaceHealth } from "./upstream-health-store.ts";
import { deleteOldUpstreamEvents } from "./upstream-history-store.ts";
import { deleteOldLimits } from "./vendor-limit-store.ts";

const dayMs = 24 * 60 * 60_000;
const keptDays = 90;
const limitDays = 7;
const rowsMax = 20_000;

/** Closes the circuits of processes that are gone, and deletes old events and rate limits. */
export async function sweepUpstreamEvents({ database, clock }: { database: Database; clock: Clock }): Promise<void> {
  const now = clock.now();
  const forgottenBefore = new Date(now.getTime() - silentNodeMs);
  await inTransaction(database, (tx) => replaceHealth(tx, { nodeId: "", health: [], now, forgottenBefore }));
  await deleteOldLimits(database, new Date(now.getTime() - limitDays * dayMs));
  await deleteOldUpstreamEvents(database, { before: new Date(now.getTime() - keptDays * dayMs), rowsMax });
}
