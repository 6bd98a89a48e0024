import { invariant } from "../../../lib/invariant.ts";
import { hasLease, listChildren } from "../lease-store.ts";
import { applyTransition, type TransitionDependencies } from "../machine/apply-transition.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import type { Outcome } from "../machine/task-machine.ts";
import { type CompositeTask, isComposite, type NewChild, type StepRecord, type Task, type TaskEnd } from "../task.ts";

/** Advances a composite task as far as possible, until it ends or has to wait. */
export type Orchestrate = (
  task: CompositeTask,
  context: OrchestrationContext,
) => Promise<{ kind: "waiting"; until: Date } | { kind: "concluded"; end: TaskEnd }>;

type StepChange = { steps: readonly StepRecord[]; progress: number; children?: readonly NewChild[] };

/** What an orchestration may do with a claimed composite task. */
export type OrchestrationContext = {
  /** Aborts when the worker stops, the deadline passes, or the task is canceled or claimed by another worker. */
  signal: AbortSignal;
  listChildren(): Promise<Task[]>;
  /** Writes the steps' states together with their new child tasks. */
  move(task: CompositeTask, change: StepChange): Promise<CompositeTask>;
};

/** How often the lease is checked during a long orchestration. */
const checkEveryMs = 1_000;

/** Another worker has claimed the task, or it has ended: the current work is dropped. */
class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/**
 * Lets the owning feature advance a composite task. Returns the outcome and the task as last written, or `null` if the
 * lease was lost.
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
        if (!isHeld) lost.abort(new LeaseLostError("Another worker claimed the task, or it has ended."));
      },
      // Not known now; the fencing token protects the next write.
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
      if (applied === null) throw new LeaseLostError("Another worker claimed the task, or it has ended.");
      invariant(isComposite(applied.task), "a composite task stays one");
      written.task = applied.task;
      return applied.task;
    },
  };
}
