import { decideStep, type NextLook } from "./decide-step.ts";
import { type Direct, directTask } from "./direct-task.ts";
import { finishTask } from "./finish-task.ts";
import { pollTask, stopTask } from "./poll-task.ts";
import { recoverTask, submitTask } from "./submit-task.ts";
import { type ClaimedTask, isDirected, isMedia, type MediaTask } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";
import { findTaskTarget, listTaskTargets } from "./task-target.ts";

export type AdvanceParts = TaskParts & { direct: Direct };

/** Takes a task that is in hand one step further. The only place that knows the order of steps. */
export async function advanceTask(parts: AdvanceParts, task: ClaimedTask, signal: AbortSignal): Promise<NextLook> {
  const step = decideStep(task, parts.clock.now());
  parts.reach("claimed");
  switch (step.kind) {
    case "expire":
      await expireTask(parts, task, signal);
      return null;
    case "cancel":
      await finishTask(parts, task, { state: "canceled", output: [] });
      return null;
    case "nothing":
      return null;
    case "direct":
      return isDirected(task) ? await directTask(parts, task, signal) : null;
    case "submit":
      return isMedia(task) ? await submitTask(parts, task, signal) : null;
    case "recover":
      return isMedia(task) ? await recoverTask(parts, task, signal) : null;
    case "stop":
      return isMedia(task) ? await stopTask(parts, task, signal) : null;
    case "poll":
      return isMedia(task) ? await pollTask(parts, task, signal) : null;
  }
}

/** The caller is told first; that the upstream need not go on is a courtesy to ourselves. */
async function expireTask(parts: TaskParts, task: ClaimedTask, signal: AbortSignal): Promise<void> {
  const expired = await finishTask(parts, task, { state: "expired" });
  if (expired !== null && isMedia(task)) await stopUpstream(parts, task, signal);
}

async function stopUpstream(parts: TaskParts, task: MediaTask, signal: AbortSignal): Promise<void> {
  if (task.handle === null) return;
  const target = findTaskTarget(listTaskTargets(parts.catalog.current(), task.model, parts.registry), task.target);
  if (target === null || target.generation.traits.cancels === "never") return;
  const { apiKey, timeoutMs, upstreamModel } = target;
  const call = { taskId: task.id, request: task.request, inputs: [], upstreamModel, apiKey, timeoutMs, signal };
  await target.generation.cancel(task.handle, call).catch((error: unknown) => {
    parts.logger.warn({ task: task.id, error }, "an expired task could not be stopped upstream");
  });
}
