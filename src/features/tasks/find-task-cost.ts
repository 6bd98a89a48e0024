import { computeCharge } from "../../lib/bill.ts";
import type { UpstreamCost } from "../../lib/upstream-cost.ts";
import { type CatalogView, decideCost } from "../catalog/index.ts";
import { billDelivered, nothing, quoteTask, sumSeconds } from "./quote-task.ts";
import { isComposite, type Task, type TaskOutput } from "./task.ts";
import { isSameTarget } from "./task-target.ts";

/** What the upstream charges for a task's outputs, by its cost sheet; `null` if it has none or the task has no output. */
export function findTaskCost(
  { targetsByModelId }: Pick<CatalogView, "targetsByModelId">,
  task: Task,
  output: readonly TaskOutput[],
): UpstreamCost | null {
  if (isComposite(task) || task.target === null || output.length === 0) return null;
  const { model, request, inputs, target: sent } = task;
  const target = targetsByModelId.get(model)?.find((one) => isSameTarget(one, sent));
  if (target === undefined) return null;
  const asked = {
    request,
    inputImages: inputs.filter(({ role }) => role === "image" || role === "last-image").length,
    // An avatar speaks as long as its audio.
    audioSeconds: sumSeconds(output),
    budgetAmount: null,
  };
  return decideCost(target, {
    compute(sheet) {
      const { bill } = billDelivered(quoteTask(sheet, asked), output);
      return bill === null ? nothing : computeCharge(bill);
    },
  });
}
