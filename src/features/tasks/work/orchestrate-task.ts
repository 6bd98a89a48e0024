import { invariant } from "../../../lib/invariant.ts";
import { applyTransition, type TransitionDependencies } from "../machine/apply-transition.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import type { Outcome } from "../machine/task-machine.ts";
import { type CompositeTask, isComposite, type NewChild, type StepRecord, type Task, type TaskEnd } from "../task.ts";
import { hasLease, listChildren } from "./lease-store.ts";

/** Takes a composite task as far as it goes now: it ends, or is looked at again. */
export type Orchestrate = (
  task: CompositeTask,
  context: OrchestrationContext,
) => Promise<{ kind: "waiting"; until: Date } | { kind: "concluded"; end: TaskEnd }>;

type StepChange = { steps: readonly StepRecord[]; progress: number; children?: readonly NewChild[] };

/** What can be done with a composite task while it is claimed. */
export type OrchestrationContext = {
  /** Aborted when the worker stops, when the task's time is over, and when it was canceled or claimed by another. */
  signal: AbortSignal;
  listChildren(): Promise<Task[]>;
  /** Writes how the steps stand together with the tasks that they need now. */
  move(task: CompositeTask, change: StepChange): Promise<CompositeTask>;
};

/** How often the lease of a task that takes long to work on is checked. */
const checkEveryMs = 1_000;

/** Another worker has claimed the task by now, or it is over: whatever was being done with it is dropped. */
class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/**
 * Has a composite task taken further by the feature that knows what it is made of. Answers what came of it, and the task
 * as it is written by then; `null` where the claim was lost.
 */
export async function orchestrateTask(
  dependencies: TransitionDependencies & { orchestrate: Orchestrate },
  task: CompositeTask,
  signal: AbortSignal,
): Promise<{ task: CompositeTask; outcome: Outcome } | null> {
  const lost = new AbortController();
  const checking = setInterval(() => {
    hasLease(dependencies.database, task).then(
      (isHeld) => {
        if (!isHeld) lost.abort(new LeaseLostError("The task was claimed by another worker, or is over."));
      },
      // Unknown for now; the next write is fenced.
      () => {},
    );
  }, checkEveryMs);
  try {
    const written = { task };
    const context = createContext(dependencies, written, AbortSignal.any([signal, lost.signal]));
    const outcome = await dependencies.orchestrate(task, context);
    return { task: written.task, outcome };
  } catch (error) {
    if (error instanceof LeaseLostError || lost.signal.aborted) return null;
    throw error;
  } finally {
    clearInterval(checking);
  }
}

function createContext(
  dependencies: TransitionDependencies,
  written: { task: CompositeTask },
  signal: AbortSignal,
): OrchestrationContext {
  return {
    signal,
    listChildren: () => listChildren(dependencies.database, written.task.id),
    async move(task, { steps, progress, children = [] }) {
      const outcome = { kind: "steps-changed", steps, progress, children } as const;
      const transition = decideTransition(task, outcome, dependencies.clock.now());
      const applied = await applyTransition(dependencies, task, transition);
      if (applied === null) throw new LeaseLostError("The task was claimed by another worker, or is over.");
      invariant(isComposite(applied.task), "a composite task stays one");
      written.task = applied.task;
      return applied.task;
    },
  };
}
