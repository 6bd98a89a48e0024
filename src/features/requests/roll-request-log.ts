import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { rollRequestPartitions } from "./partition-store.ts";
import { findKeptFrom } from "./read-requests.ts";

/** Long enough that a month is there before its first call, however long a gateway stood still. */
const aheadMs = 32 * 24 * 60 * 60 * 1000;

/** What falls due again and again: the next month is made, and what nobody may read any more is dropped. */
export async function rollRequestLog(dependencies: {
  database: Database;
  clock: Clock;
  keptDays: number;
}): Promise<void> {
  const { database, clock, keptDays } = dependencies;
  const now = clock.now();
  const ahead = new Date(now.getTime() + aheadMs);
  await rollRequestPartitions(database, { now, ahead, keptFrom: findKeptFrom(clock, keptDays) });
}
