import type { Nano } from "../../../lib/money.ts";
import { toMetricAmount } from "../../../platform/observability/metric-amount.ts";
import type { Metrics } from "../../../platform/observability/metrics.ts";
import { isFinal, type Task } from "../task.ts";

export type TaskMetrics = Pick<Metrics, "taskDuration" | "charges" | "chargedAmount" | "lostAmount" | "unchargedWork">;

/** What became of the money of a task that ended. */
export type Settlement =
  /** Nothing was due: nothing was made, the task is free, or its parent pays. */
  | { kind: "none" }
  /** `lost`: what the account could not pay. */
  | { kind: "charged"; lost: Nano }
  /** The caller has the output, and the hold had ended before the charge. */
  | { kind: "uncharged" };

/** Counts how a task ended and what was charged for it. */
export function countTaskEnd(metrics: TaskMetrics, task: Task, settlement: Settlement): void {
  const { state, type, model, createdAt, finishedAt, updatedAt, charge } = task;
  if (isFinal(state)) {
    const endedAt = finishedAt ?? updatedAt;
    metrics.taskDuration.at(type, state).add((endedAt.getTime() - createdAt.getTime()) / 1000);
  }
  if (settlement.kind === "uncharged") metrics.unchargedWork.at("task").add(1);
  if (settlement.kind !== "charged") return;
  metrics.charges.at(model).add(1);
  metrics.chargedAmount.at(model).add(toMetricAmount(charge));
  metrics.lostAmount.at(model).add(toMetricAmount(settlement.lost));
}
