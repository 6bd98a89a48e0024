import type { Nano } from "../../../lib/money.ts";
import { toMetricAmount } from "../../../platform/observability/metric-amount.ts";
import type { Metrics } from "../../../platform/observability/metrics.ts";
import { isFinal, type Task } from "../task.ts";

export type TaskMetrics = Pick<Metrics, "taskDuration" | "charges" | "chargedAmount" | "lostAmount" | "unchargedWork">;

/** The settlement of an ended task. */
export type Settlement =
  /** No charge: no output, a free task, or the parent pays. */
  | { kind: "none" }
  /** `lost`: the part the account could not pay. */
  | { kind: "charged"; lost: Nano }
  /** The caller has the output, but the hold had already ended. */
  | { kind: "uncharged" };

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
