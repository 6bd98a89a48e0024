import type { Clock } from "../../../lib/clock.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import { releaseHold } from "../../ledger/index.ts";
import { listStrayHolds } from "../task-store.ts";

const atOnceMax = 200;
/** A hold and its task are written together, so one that is this old without a task has none. */
const graceMs = 10 * 60_000;

/**
 * Compares what is on hold for tasks with the tasks that are open. A hold whose task is over, or never was, is given
 * back; that there was one is a mistake of ours, and told.
 */
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
    logger.error({ hold_id: holdId, account_id: accountId, task_id: taskId }, "money was held for no open task");
  }
  return { released: strays.length };
}
