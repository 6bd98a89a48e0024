import type { Nano } from "../../../lib/money.ts";
import { toMetricAmount } from "../../../platform/observability/metric-amount.ts";
import type { Metrics } from "../../../platform/observability/metrics.ts";
import { isFinal, type Task } from "../task.ts";
import type { Transition } from "./task-machine.ts";

export type TaskMetrics = Pick<Metrics, "taskDuration" | "charges" | "chargedAmount" | "lostAmount">;

/** Counts how a task ended and what was charged for it. */
export function countTaskEnd(
  metrics: TaskMetrics,
  { task, transition, lost }: { task: Task; transition: Transition; lost: Nano },
): void {
  const { state, type, model, createdAt, finishedAt, updatedAt, holdId, charge } = task;
  if (isFinal(state)) {
    const endedAt = finishedAt ?? updatedAt;
    metrics.taskDuration.at(type, state).add((endedAt.getTime() - createdAt.getTime()) / 1000);
  }
  // Parts of other tasks have no hold: they are paid with the whole.
  if (holdId === null || transition.end?.money.kind !== "settle") return;
  metrics.charges.at(model).add(1);
  metrics.chargedAmount.at(model).add(toMetricAmount(charge));
  metrics.lostAmount.at(model).add(toMetricAmount(lost));
}
