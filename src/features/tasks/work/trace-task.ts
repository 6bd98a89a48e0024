import type { Span, Tracing } from "../../../platform/tracing/span.ts";
import { toSpanFailure } from "../../../platform/tracing/to-span-failure.ts";
import { ProviderError } from "../../../providers/contract.ts";
import type { Outcome, Step, Transition } from "../machine/task-machine.ts";
import type { ClaimedTask } from "../task.ts";

/*
 * What a worker does with a task belongs to the span that made the task, which is kept with it: each worker has one task
 * at a time, so that span is the parent, and not only linked. A look that finds nothing new is not told of: its spans are
 * never ended. A task that takes hours is looked at thousands of times.
 */

/** `null` where the submission of the task was not traced. */
export function resumeTask(tracing: Tracing | null, { id, model, type, traceparent }: ClaimedTask): Span | null {
  if (tracing === null || traceparent === null) return null;
  const attributes = { "sluice.task.id": id, "sluice.task.type": type, "gen_ai.request.model": model };
  return tracing.resume(traceparent, "process task", { kind: "consumer", attributes });
}

export function endTask(span: Span | null, { state, phase }: ClaimedTask): void {
  span?.set({ "sluice.task.status": state, "sluice.task.phase": phase });
  span?.end();
}

const kinds = {
  "choose-target": "internal",
  submit: "client",
  recover: "client",
  poll: "client",
  stop: "client",
  collect: "client",
  orchestrate: "internal",
  abandon: "client",
} as const satisfies Record<Step["kind"], "internal" | "client">;

export function startStep(span: Span | null, { target: sentTo }: ClaimedTask, step: Step): Span | null {
  if (span === null) return null;
  const target = step.kind === "submit" ? step.handover.target : sentTo;
  return span.start(step.kind, {
    kind: kinds[step.kind],
    attributes: {
      "gen_ai.operation.name": kinds[step.kind] === "client" ? "generate_content" : undefined,
      "gen_ai.provider.name": target?.providerId,
      "gen_ai.request.model": target?.upstreamModel,
      "sluice.upstream.key_number": target?.keyNumber,
    },
  });
}

export function endStep(span: Span | null, outcome: Outcome): void {
  if (span === null) return;
  const error = "error" in outcome ? outcome.error : null;
  span.set({ "sluice.task.outcome": outcome.kind });
  if (error instanceof ProviderError) span.end({ errorType: error.kind });
  else if (error !== null) span.end(toSpanFailure(error));
  else span.end(failures.has(outcome.kind) ? { errorType: outcome.kind } : null);
}

const failures: ReadonlySet<Outcome["kind"]> = new Set(["no-target", "ambiguous", "lost", "unreachable", "route-gone"]);

/** What is worth knowing even where it changes nothing of a task. One that waits for a target looks for it again and again. */
export function isWorthTelling({ kind }: Outcome): boolean {
  return kind === "made" || kind === "target-chosen" || (failures.has(kind) && kind !== "no-target");
}

/** The end of a task is written with its money and its event. */
export function startEnd(span: Span | null, { end, change }: Transition): Span | null {
  if (span === null || end === null) return null;
  const attributes = { "db.system.name": "postgresql", "sluice.task.status": change.state };
  return span.start(end.money.kind === "settle" ? "settle task" : "end task", { kind: "client", attributes });
}
