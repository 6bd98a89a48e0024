import type { Clock } from "../../../lib/clock.ts";
import { readIdTime } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { isFinal, type Task } from "../task.ts";
import { countWaiting, findTask } from "../task-store.ts";
import type { TaskWatch } from "./watch-tasks.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Which task, for whom, and how long tasks are kept by then, where they are not kept for ever. */
export type AskedTask = { id: string; accountId?: string; kept?: { days: number; now: Date } };

/** A task, and where an account asks, one of its own: another's does not exist for it. */
export async function getTask(database: Database, { id, accountId, kept }: AskedTask): Promise<Task> {
  const task = await findTask(database, id);
  if (task !== null && (accountId === undefined || task.accountId === accountId)) return task;
  throw new AppError("task_not_found", explainMissing(id, kept));
}

/** By its id alone, which tells when a task was made whether there ever was one or not. */
function explainMissing(id: string, kept: AskedTask["kept"]): string {
  const madeAt = readIdTime(id);
  if (kept === undefined || kept.days === 0 || madeAt === null) return "There is no such task.";
  if (kept.now.getTime() - madeAt.getTime() < kept.days * dayMs) return "There is no such task.";
  return `There is no such task any more: tasks are kept for ${kept.days} days.`;
}

/** How many wait for the same model, up to this one; `null` for a task that does not wait. */
export async function findQueuePosition(database: Database, task: Task): Promise<number | null> {
  return task.phase === "ready" ? await countWaiting(database, task) : null;
}

/** Whether a parent has succeeded, and is charged for what its children made. */
export async function hasSucceeded(database: Database, parentId: string | null): Promise<boolean> {
  return parentId !== null && (await findTask(database, parentId))?.state === "succeeded";
}

/**
 * The task once it is over, or as it is when the time is. Whoever knows a version of it already hears of the next one.
 */
export async function awaitTask(
  { database, watch, clock }: { database: Database; watch: TaskWatch; clock: Clock },
  first: Task,
  { knownVersion, waitMs, signal }: { knownVersion: number | null; waitMs: number; signal: AbortSignal },
): Promise<Task> {
  const endMs = clock.monotonicMs() + waitMs;
  let task = first;
  for (;;) {
    const isNews = isFinal(task.state) || (knownVersion !== null && task.version > knownVersion);
    const leftMs = endMs - clock.monotonicMs();
    if (isNews || leftMs <= 0 || signal.aborted || watch.isReleased()) return task;
    await watch.waitForChange(task.id, task.version, { timeoutMs: leftMs, signal });
    task = await getTask(database, task);
  }
}
