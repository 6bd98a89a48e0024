import type { Clock } from "../../../lib/clock.ts";
import { readIdTime } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { isFinal, type Task } from "../task.ts";
import { countWaiting, findTask } from "../task-store.ts";
import type { TaskWatch } from "./watch-tasks.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The id, the account to check (operators leave it out), and the retention period for the error message. */
export type AskedTask = { id: string; accountId?: string; kept?: { days: number; now: Date } };

/** Returns the task, or throws `task_not_found` if it belongs to another account. */
export async function getTask(database: Database, { id, accountId, kept }: AskedTask): Promise<Task> {
  const task = await findTask(database, id);
  if (task !== null && (accountId === undefined || task.accountId === accountId)) return task;
  throw new AppError("task_not_found", explainMissing(id, kept));
}

/** Judges by the id's timestamp alone, so the answer does not reveal whether the task ever existed. */
function explainMissing(id: string, kept: AskedTask["kept"]): string {
  const madeAt = readIdTime(id);
  if (kept === undefined || kept.days === 0 || madeAt === null) return "There is no such task.";
  if (kept.now.getTime() - madeAt.getTime() < kept.days * dayMs) return "There is no such task.";
  return `There is no such task. Tasks are deleted after ${kept.days} days.`;
}

/** The position in the model's queue, this task included; `null` if the task is not queued. */
export async function findQueuePosition(database: Database, task: Task): Promise<number | null> {
  return task.phase === "ready" ? await countWaiting(database, task) : null;
}

/** Whether a parent has succeeded and is charged for its children's outputs. */
export async function hasSucceeded(database: Database, parentId: string | null): Promise<boolean> {
  return parentId !== null && (await findTask(database, parentId))?.state === "succeeded";
}

/** Waits until the task ends, changes beyond `knownVersion`, or the time is up; returns its current state. */
export async function awaitTask(
  { database, watch, clock }: { database: Database; watch: TaskWatch; clock: Clock },
  first: Task,
  { knownVersion, waitMs, signal }: { knownVersion: number | null; waitMs: number; signal: AbortSignal },
): Promise<Task> {
  const endMs = clock.monotonicMs() + waitMs;
  let task = first;
  for (;;) {
    const isChanged = isFinal(task.state) || (knownVersion !== null && task.version > knownVersion);
    const leftMs = endMs - clock.monotonicMs();
    if (isChanged || leftMs <= 0 || signal.aborted || watch.isReleased()) return task;
    await watch.waitForChange(task.id, task.version, { timeoutMs: leftMs, signal });
    task = await getTask(database, task);
  }
}
