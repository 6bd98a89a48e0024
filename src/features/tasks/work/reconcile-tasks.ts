import type { Clock } from "../../../lib/clock.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import { releaseHold } from "../../ledger/index.ts";
import { listStrayHolds } from "../task-store.ts";

const atOnceMax = 200;
/** A hold and its task are written together, so a hold this old without a task will never get one. */
const graceMs = 10 * 60_000;

/** Releases open holds whose task has ended or does not exist, and logs each: it is a bug of ours. */
export async function reconcileTasks({
  database,
  clock,
  logger,
}: {
  database: Database;
  clock: Clock;
  logger: Logger;
}): Promise<{ released: number }> {
  const before = new Date(clock.now().getTime() - graceMs);
  const strays = await listStrayHolds(database, { before, limit: atOnceMax });
  for (const { holdId, accountId, taskId } of strays) {
    const release = { accountId, holdId };
    await inTransaction(database, (tx) => releaseHold(tx, release, clock.now()));
    logger.error({ hold_id: holdId, account_id: accountId, task_id: taskId }, "stray hold released");
  }
  return { released: strays.length };
}
