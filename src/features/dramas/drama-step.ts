import type { CompositeTask, StepRecord, Task, TaskOutput } from "../tasks/index.ts";
import type { StepName } from "./drama-request.ts";

/** Relative weights for the overall progress. */
const weights: Record<StepName, number> = { script: 5, roles: 5, storyboard: 15, shots: 50, speech: 10, film: 15 };

export function findStep(task: Pick<Task, "steps">, name: StepName): StepRecord | null {
  return task.steps.find((step) => step.name === name) ?? null;
}

export function isDone(step: StepRecord | null): boolean {
  return step === null || step.state === "succeeded";
}

/** Changes one step and returns all steps with the overall progress. */
export function changeStep(
  task: Pick<CompositeTask, "steps">,
  name: StepName,
  change: Partial<Omit<StepRecord, "name">>,
): { steps: StepRecord[]; progress: number } {
  const steps = task.steps.map((step) => (step.name === name ? mergeStep(step, change) : step));
  return { steps, progress: weigh(steps) };
}

export function completeStep(task: Pick<CompositeTask, "steps">, name: StepName, output: readonly TaskOutput[]) {
  return changeStep(task, name, { state: "succeeded", progress: 100, output });
}

/** Progress never decreases. */
function mergeStep(step: StepRecord, change: Partial<StepRecord>): StepRecord {
  const progress = Math.max(step.progress, Math.floor(change.progress ?? 0));
  return { ...step, ...change, progress };
}

function weigh(steps: readonly StepRecord[]): number {
  const weightOf = ({ name }: StepRecord): number => weights[name as StepName];
  const whole = steps.reduce((sum, step) => sum + weightOf(step), 0);
  return steps.reduce((sum, step) => sum + weightOf(step) * step.progress, 0) / whole;
}
