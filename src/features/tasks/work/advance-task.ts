import { invariant } from "../../../lib/invariant.ts";
import type { Span, Tracing } from "../../../platform/tracing/span.ts";
import { toSpanFailure } from "../../../platform/tracing/to-span-failure.ts";
import { applyTransition, type TransitionDependencies } from "../machine/apply-transition.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import type { Outcome, Step } from "../machine/task-machine.ts";
import { type ClaimedTask, isComposite } from "../task.ts";
import { callUpstream, type UpstreamDependencies } from "./call-upstream.ts";
import { type Orchestrate, orchestrateTask } from "./orchestrate-task.ts";
import { endStep, endTask, isWorthTelling, resumeTask, startEnd, startStep } from "./trace-task.ts";

export type AdvanceDependencies = TransitionDependencies &
  UpstreamDependencies & {
    /** Takes composite tasks further; given by the feature that knows what they are made of. */
    orchestrate: Orchestrate;
    tracing?: Tracing | null;
  };

/**
 * Takes a claimed task as far as it goes now: what came of a step decides what is written and which step is next. Answers
 * when the task is due again where only that is left to write, which its worker does for many tasks together.
 */
export async function advanceTask(
  dependencies: AdvanceDependencies,
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
  dependencies: AdvanceDependencies,
  claimed: ClaimedTask,
  { signal, span }: { signal: AbortSignal; span: Span | null },
): Promise<Date | null> {
  let task: ClaimedTask = claimed;
  let outcome: Outcome | null = { kind: "claimed" };
  let taking: Span | null = null;
  let isTold = false;
  while (outcome !== null) {
    const decided = decideTransition(task, outcome, dependencies.clock.now());
    const isChange = Object.keys(decided.change).length > 0;
    if (isChange || isWorthTelling(outcome)) {
      isTold = true;
      endStep(taking, outcome);
    }
    if (!isChange && decided.lease.kind === "due") {
      if (isTold) endTask(span, task);
      return decided.lease.at;
    }
    const ending = startEnd(span, decided);
    const applied = isChange ? await applyTransition(dependencies, task, decided) : { task, transition: decided };
    ending?.end();
    // The claim was lost; whoever has it now decides by what is written.
    if (applied === null) break;
    const { next } = applied.transition;
    taking = next === null ? null : startStep(span, applied.task, next);
    const taken = next === null ? null : await takeStep(dependencies, applied.task, { step: next, signal });
    task = taken?.task ?? applied.task;
    outcome = taken?.outcome ?? null;
  }
  endTask(span, task);
  return null;
}

async function takeStep(
  dependencies: AdvanceDependencies,
  task: ClaimedTask,
  { step, signal }: { step: Step; signal: AbortSignal },
): Promise<{ task: ClaimedTask; outcome: Outcome } | null> {
  if (isComposite(task)) {
    invariant(step.kind === "orchestrate", `a composite task takes the step ${step.kind}`);
    return await orchestrateTask(dependencies, task, signal);
  }
  invariant(step.kind !== "orchestrate", "only composite tasks are orchestrated");
  return { task, outcome: await callUpstream(dependencies, task, { step, signal }) };
}
