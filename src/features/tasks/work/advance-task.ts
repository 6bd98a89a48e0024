import { setTimeout as wait } from "node:timers/promises";
import { invariant } from "../../../lib/invariant.ts";
import { isDatabaseUnavailable } from "../../../platform/database/database.ts";
import type { Span } from "../../../platform/tracing/span.ts";
import { toSpanFailure } from "../../../platform/tracing/to-span-failure.ts";
import { type Applied, applyTransition } from "../machine/apply-transition.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import type { Outcome, Step, Transition } from "../machine/task-machine.ts";
import { type ClaimedTask, isComposite } from "../task.ts";
import { callUpstream } from "./call-upstream.ts";
import { orchestrateTask } from "./orchestrate-task.ts";
import { endStep, endTask, isWorthTracing, resumeTask, startEnd, startStep } from "./trace-task.ts";
import type { WorkerDependencies } from "./worker-dependencies.ts";

/**
 * Advances a claimed task as far as possible: each outcome decides what is written and which step is next. Returns the
 * next due time if that is all that is left to write; the worker writes those in batches.
 */
export async function advanceTask(
  dependencies: WorkerDependencies,
  claimed: ClaimedTask,
  signal: AbortSignal,
): Promise<Date | null> {
  dependencies.failpoint("claimed");
  const span = resumeTask(dependencies.tracing ?? null, claimed);
  try {
    return await advance(dependencies, claimed, { signal, span });
  } catch (error) {
    span?.end(toSpanFailure(error));
    throw error;
  }
}

async function advance(
  dependencies: WorkerDependencies,
  claimed: ClaimedTask,
  { signal, span }: { signal: AbortSignal; span: Span | null },
): Promise<Date | null> {
  let task: ClaimedTask = claimed;
  let outcome: Outcome | null = { kind: "claimed" };
  let taking: Span | null = null;
  let isTraced = false;
  while (outcome !== null) {
    const decided = decideTransition(task, outcome, dependencies.clock.now());
    const isChange = Object.keys(decided.change).length > 0;
    if (isChange || isWorthTracing(outcome)) {
      isTraced = true;
      endStep(taking, outcome);
    }
    if (!isChange && decided.lease.kind === "due") {
      if (isTraced) endTask(span, task);
      return decided.lease.at;
    }
    const ending = startEnd(span, decided);
    const applied: Written | null = isChange
      ? await write(dependencies, task, { transition: decided, outcome, signal })
      : { task, transition: decided };
    ending?.end();
    // The lease was lost; its new owner continues from what is written.
    if (applied === null) break;
    const { next }: Transition = applied.transition;
    taking = next === null ? null : startStep(span, applied.task, next);
    const taken: Taken | null =
      next === null ? null : await takeStep(dependencies, applied.task, { step: next, signal });
    task = taken?.task ?? applied.task;
    outcome = taken?.outcome ?? null;
  }
  endTask(span, task);
  return null;
}

type Written = Pick<Applied<ClaimedTask>, "task" | "transition">;

/** Returns `null` if the lease was lost. */
async function write(
  dependencies: WorkerDependencies,
  task: ClaimedTask,
  { transition, outcome, signal }: { transition: Transition; outcome: Outcome; signal: AbortSignal },
): Promise<Written | null> {
  const apply = (): Promise<Written | null> => applyTransition(dependencies, task, transition);
  return await (knownHereOnly.includes(outcome.kind) ? throughOutage(dependencies, signal, apply) : apply());
}

/** Outcomes that no other worker can find out again, or only at the cost of the job. */
const knownHereOnly: readonly Outcome["kind"][] = [
  "accepted",
  "ambiguous",
  "refused",
  "failed",
  "collected",
  "uncollectable",
];

const outageMsMax = 120_000;
const retryMs = 250;

/**
 * Repeats work that writes such an outcome while the database is unavailable, or too busy for a connection: otherwise the
 * job would be lost, and still be billed. The lease and its fencing token make it safe.
 */
async function throughOutage<T>(
  { clock }: Pick<WorkerDependencies, "clock">,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isOver = signal.aborted || clock.monotonicMs() - startedMs > outageMsMax;
      if (isOver || !isDatabaseUnavailable(error)) throw error;
      await wait(retryMs, undefined, { signal }).catch(() => {});
    }
  }
}

type Taken = { task: ClaimedTask; outcome: Outcome };

async function takeStep(
  dependencies: WorkerDependencies,
  task: ClaimedTask,
  { step, signal }: { step: Step; signal: AbortSignal },
): Promise<Taken | null> {
  if (isComposite(task)) {
    invariant(step.kind === "orchestrate", `a composite task takes the step ${step.kind}`);
    return await orchestrateTask(dependencies, task, signal);
  }
  invariant(step.kind !== "orchestrate", "only composite tasks are orchestrated");
  const call = (): Promise<Outcome> => callUpstream(dependencies, task, { step, signal });
  // The outputs of an immediate answer are in memory only.
  return { task, outcome: await (step.kind === "collect" ? throughOutage(dependencies, signal, call) : call()) };
}
