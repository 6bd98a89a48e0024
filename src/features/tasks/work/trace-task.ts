import type { Span, Tracing } from "../../../platform/tracing/span.ts";
import { toSpanFailure } from "../../../platform/tracing/to-span-failure.ts";
import { ProviderError } from "../../../providers/contract.ts";
import type { Outcome, Step, Transition } from "../machine/task-machine.ts";
import type { ClaimedTask } from "../task.ts";

/*
 * A worker's spans are children of the span that created the task, which is stored with it. Children, not links, because
 * one worker at a time has the task. Polls without a change are not traced: their spans are never ended, because a task
 * that takes hours is polled thousands of times.
 */

/** Returns `null` if the submission was not traced. */
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

/** Outcomes worth a span even without a change, except `no-target`, which repeats while a task waits. */
export function isWorthTracing({ kind }: Outcome): boolean {
  return kind === "made" || kind === "target-chosen" || (failures.has(kind) && kind !== "no-target");
}

/** Spans the write of the end, with its settlement and event. */
export function startEnd(span: Span | null, { end, change }: Transition): Span | null {
  if (span === null || end === null) return null;
  const attributes = { "db.system.name": "postgresql", "sluice.task.status": change.state };
  return span.start(end.money.kind === "settle" ? "settle task" : "end task", { kind: "client", attributes });
}
