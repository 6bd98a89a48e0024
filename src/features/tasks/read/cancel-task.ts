import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ProviderRegistry } from "../../../providers/provider-registry.ts";
import type { LiveCatalog } from "../../catalog/index.ts";
import { afterCommit, type TransitionDependencies, writeTransition } from "../machine/apply-transition.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import type { Task } from "../task.ts";
import { lockTask } from "../task-store.ts";
import { findTaskTarget, listTaskTargets } from "../task-target.ts";
import { getTask } from "./read-task.ts";

/**
 * Cancels a task or requests it. A task that no upstream has started ends at once; otherwise the upstream decides how it
 * ends. A finished task is unchanged. `isCancelable`: whether the task's upstream can stop it. `record` is called in the
 * transaction of a change.
 */
export async function cancelTask(
  dependencies: TransitionDependencies & { isCancelable(task: Task): boolean },
  { record, ...asked }: { id: string; accountId?: string; record?(tx: Database, task: Task): Promise<void> },
): Promise<Task> {
  const { database, clock, isCancelable } = dependencies;
  const found = await getTask(database, asked);
  const applied = await inTransaction(database, async (tx) => {
    const task = await lockTask(tx, asked.id);
    if (task === null) return null;
    const outcome = { kind: "cancel-requested", isCancelable: isCancelable(task) } as const;
    const transition = decideTransition(task, outcome, clock.now());
    if (transition.refusal === "not-cancelable") {
      throw new AppError("task_not_cancelable", "This model cannot cancel a task that has started.");
    }
    if (!transition.isVisible) return null;
    const written = await writeTransition(dependencies, tx, task, transition);
    await record?.(tx, written.task);
    return written;
  });
  if (applied === null) return await getTask(database, found);
  await afterCommit(dependencies, applied);
  return applied.task;
}

/** Returns whether a task's upstream can stop it. */
export function createCancelCheck({ catalog, registry }: { catalog: LiveCatalog; registry: ProviderRegistry }) {
  return (task: Task): boolean => {
    if (task.target === null) return true;
    const targets = listTaskTargets(catalog.current(), task.model, registry);
    const cancels = findTaskTarget(targets, task.target)?.generation.traits.cancels ?? "always";
    return cancels === "always" || (cancels === "while-queued" && task.state === "queued");
  };
}
