import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { deleteGaps, rollPartitions } from "./partition-store.ts";
import { findKeptFrom } from "./read-requests.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** Long enough that a month's partition exists before its first call, even after a long downtime. */
const aheadMs = 32 * dayMs;
const contentAheadMs = 2 * dayMs;

/** Creates the next month's and day's partitions, and drops expired ones. */
export async function rollRequestLog(dependencies: {
  database: Database;
  clock: Clock;
  keptDays: number;
  contentDays: number;
}): Promise<void> {
  const { database, clock, keptDays, contentDays } = dependencies;
  const now = clock.now();
  const keptFrom = findKeptFrom(clock, keptDays);
  const ahead = new Date(now.getTime() + aheadMs);
  await rollPartitions(database, { table: "request_blocks", now, ahead, keptFrom });
  // Gateways of version 0.2 still write these.
  await rollPartitions(database, { table: "requests", now, ahead, keptFrom });
  await rollPartitions(database, { table: "request_errors", now, ahead, keptFrom });
  await deleteGaps(database, keptFrom);
  const contentAhead = new Date(now.getTime() + contentAheadMs);
  const contentKeptFrom = findKeptFrom(clock, contentDays);
  await rollPartitions(database, { table: "request_contents", now, ahead: contentAhead, keptFrom: contentKeptFrom });
}
