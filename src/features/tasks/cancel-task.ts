import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import { endLocked, type FinishParts } from "./finish-task.ts";
import { getTask } from "./read-task.ts";
import { isDirected, type Task, type TaskOutput } from "./task.ts";
import { lockTask, updateTask } from "./task-store.ts";
import { findTaskTarget, listTaskTargets } from "./task-target.ts";
import { resetTurn, wakeWaitingTask } from "./turn-store.ts";

export type CancelParts = FinishParts & {
  /** Throws where a task that an upstream has cannot be stopped. */
  requireCancelable(task: Task): void;
  /** Has a worker look at tasks as soon as the transaction commits. */
  sendJobs(tx: Database, tasks: readonly Pick<Task, "id">[]): Promise<void>;
};

/** What a task that is made of steps has to show for itself: what those made that are paid for, the latest first. */
export function listFinished({ steps, terms }: Pick<Task, "steps" | "terms">): TaskOutput[] {
  const paid = "stages" in terms ? terms.stages.map(({ step }) => step) : [];
  const finished = steps.filter(({ name, state }) => state === "succeeded" && paid.includes(name));
  return finished.toReversed().flatMap(({ output }) => output);
}

/**
 * Cancels a task, or asks for it. One that nobody has begun ends at once; one that an upstream has ends as the upstream
 * says. A task that is over stays as it is.
 */
export async function cancelTask(parts: CancelParts, asked: { id: string; accountId?: string }): Promise<Task> {
  await getTask(parts.database, asked);
  await inTransaction(parts.database, async (tx) => {
    const task = await lockTask(tx, { id: asked.id });
    if (task === null || task.cancelRequestedAt !== null) return;
    const now = parts.clock.now();
    // One that is made of others is only waited for by us: what it had finished is known, and what it had not ends too.
    if (task.phase === "ready" || task.phase === "unknown" || isDirected(task)) {
      await endLocked(parts, tx, task, { state: "canceled", output: listFinished(task) });
      return;
    }
    parts.requireCancelable(task);
    await updateTask(tx, task.id, { cancelRequestedAt: now, version: task.version + 1 }, now);
    // While it is being handed over, whoever does that must not lose it: nobody knows yet what would have to be stopped.
    if (task.phase !== "running") return;
    await resetTurn(tx, task.id, now);
    await parts.sendJobs(tx, [task]);
  });
  const task = await getTask(parts.database, asked);
  parts.watch.announce(task);
  // The place that it may have had is free.
  if (task.finishedAt !== null && task.target !== null) {
    await wakeWaitingTask(parts.database, task.target.providerId, parts.clock.now());
  }
  return task;
}

/** Whether the upstream that has the task can stop it. */
export function createCancelCheck({ catalog, registry }: { catalog: LiveCatalog; registry: ProviderRegistry }) {
  return (task: Task): void => {
    const targets = listTaskTargets(catalog.current(), task.model, registry);
    const cancels = findTaskTarget(targets, task.target)?.generation.traits.cancels ?? "always";
    if (cancels === "always" || (cancels === "while-queued" && task.state === "queued")) return;
    throw new AppError("task_not_cancelable", "This model cannot stop a task that it has begun.");
  };
}
