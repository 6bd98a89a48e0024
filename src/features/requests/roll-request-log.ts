import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { forgetGaps, rollPartitions } from "./partition-store.ts";
import { findKeptFrom } from "./read-requests.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** Long enough that a month is there before its first call, however long a gateway stood still. */
const aheadMs = 32 * dayMs;
const contentAheadMs = 2 * dayMs;

/** What falls due again and again: the next month or day is made, and what nobody may read any more is dropped. */
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
  await rollPartitions(database, { table: "requests", now, ahead, keptFrom });
  await rollPartitions(database, { table: "request_upstreams", now, ahead, keptFrom });
  await forgetGaps(database, keptFrom);
  const contentAhead = new Date(now.getTime() + contentAheadMs);
  const contentKeptFrom = findKeptFrom(clock, contentDays);
  await rollPartitions(database, { table: "request_contents", now, ahead: contentAhead, keptFrom: contentKeptFrom });
}
