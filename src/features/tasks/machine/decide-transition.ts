import { invariant } from "../../../lib/invariant.ts";
import { ProviderError } from "../../../providers/contract.ts";
import { isWorthAnotherTarget } from "../../../providers/failures/failure-table.ts";
import type { MadeOutput } from "../../../providers/generation.ts";
import { billDelivered } from "../quote-task.ts";
import {
  type FinalState,
  isComposite,
  isFinal,
  type LeaseChange,
  type RunningTask,
  type StepRecord,
  type Task,
  type TaskChange,
  type TaskEnd,
  type TaskOutput,
  type TaskWarning,
} from "../task.ts";
import { describeAppError, explainFailure } from "./explain-failure.ts";
import {
  type Cell,
  listPlaces,
  type Money,
  type Outcome,
  outcomeTable,
  type Step,
  type Transition,
  type Upstream,
} from "./task-machine.ts";

const nothingChanges: Transition = {
  change: {},
  isVisible: false,
  lease: { kind: "keep" },
  end: null,
  admission: null,
  children: [],
  frees: null,
  refusal: null,
  next: null,
};

/** How many targets a task is submitted to: fewer than for a call, because each may take long. */
const attemptsMax = 3;
const progressMax = 99;
const circuitOpenMsMax = 30_000;
/** When a task that waits for room looks for another target; it is woken when there is room. */
const fullMs = 60_000;
/** After a rate limit without `Retry-After`. */
const limitedMs = 10_000;
const limitedMsMin = 1_000;
/** The longest `Retry-After` of a poll that is respected: outputs may be gone after minutes. */
const pollAgainMsMax = 120_000;
const routeGoneMs = 30_000;
const unknownMs = 30_000;
/** The retry delay after an internal error in a step. */
const brokenMs = 5_000;
/** How long past its deadline a task stays open while its upstream cannot be reached to cancel it. */
const abandonMsMax = 60_000;
/** How long an upstream may not know a task, or not deliver its output, before the task counts as lost. */
const lostMsMax = 120_000;

/**
 * Pure function from a task and an outcome to its transition: every rule of a task's life. Any worker computes the same
 * transition after any crash.
 */
export function decideTransition(task: Task, outcome: Outcome, now: Date): Transition {
  const cell: Cell = outcomeTable[outcome.kind][task.phase];
  if (cell === "ignore") return nothingChanges;
  if (cell === "impossible") throw createImpossibleError(task, outcome, "cannot come");
  const transition = decide(task, outcome, now);
  const wrong = listPlaces(task.phase, transition).find((place) => !cell.some((allowed) => allowed === place));
  if (wrong !== undefined) throw createImpossibleError(task, outcome, `cannot lead to ${wrong}`);
  return transition;
}

/** A bug in our own code: the step fails, is logged and retried, and nothing is written. */
function createImpossibleError({ id, phase }: Task, { kind }: Outcome, problem: string): Error {
  return new Error(`The outcome ${kind} of ${id} while it is ${phase} ${problem}.`);
}

function decide(task: Task, outcome: Outcome, now: Date): Transition {
  switch (outcome.kind) {
    case "claimed":
      return decideNext(task, now);
    case "no-target":
      if (outcome.retryAfterMs !== null) return wait(task, Math.min(outcome.retryAfterMs, circuitOpenMsMax), now);
      return fail(task, new ProviderError("unreachable", "No target of the model is left to try."), now);
    case "inputs-rejected":
      return end(task, { state: "failed", error: describeAppError(outcome.error) }, now);
    case "target-chosen":
      return enter(task, outcome, now);
    case "accepted": {
      const change = { phase: "running", handle: outcome.handle, submittedAt: now, lostAt: null } as const;
      return write(change, pollLater(task, { ...outcome, since: now }, now));
    }
    case "refused":
      return failOver(task, { ...outcome, isBegun: false }, now);
    case "ambiguous":
      return becomeUnknown(task, outcome.upstream, now);
    case "running":
      return noteProgress(getRunning(task), outcome, now);
    case "failed":
      return failOver(task, { ...outcome, isBegun: true }, now);
    case "canceled-upstream":
      if (task.cancelRequestedAt !== null) return collect(outcome, "canceled");
      return failOver(task, { error: unaskedCancel(), upstream: outcome.upstream, isBegun: true }, now);
    case "lost":
      // Some upstreams forget jobs that they were asked to stop.
      if (task.cancelAskedAt !== null) return end(task, { state: "canceled", output: [] }, now);
      return waitForUpstream(getRunning(task), outcome.upstream, now);
    case "unreachable":
      return { ...nothingChanges, lease: pollAgain(getRunning(task), outcome, now) };
    case "route-gone":
      // The route may come back; otherwise the deadline ends the task.
      return mustStop(task) ? end(task, { state: "canceled", output: [] }, now) : wait(task, routeGoneMs, now);
    case "stopped":
      return collect(outcome, "canceled");
    case "stop-refused":
      // The job goes on, and the upstream's next status decides its end.
      return write({ cancelAskedAt: now }, { kind: "due", at: now });
    case "abandoned":
      return expire(task, outcome, now);
    case "made":
      return collect(outcome, "succeeded");
    case "collected":
      return end(task, describeCollected(task, outcome), now);
    case "uncollectable":
      return decideUncollectable(task, outcome, now);
    case "steps-changed":
      return changeSteps(task, outcome, now);
    case "waiting":
      return { ...nothingChanges, lease: { kind: "due", at: outcome.until } };
    case "concluded":
      return end(task, outcome.end, now);
    case "cancel-requested":
      return requestCancel(task, outcome, now);
    case "wake-requested":
      // The worker that is submitting the task must not lose it; if that worker died, its lease expires.
      return task.phase === "submitting" ? nothingChanges : { ...nothingChanges, lease: { kind: "revoke", at: now } };
    case "broken":
      return wait(task, Math.max(brokenMs, outcome.pauseMs), now);
    case "interrupted":
      return wait(task, outcome.pauseMs, now);
  }
}

function decideNext(task: Task, now: Date): Transition {
  const isOver = now >= task.deadlineAt;
  const isUnwanted = task.cancelRequestedAt !== null;
  if (isComposite(task)) return isOver ? end(task, { state: "expired" }, now) : goOn({ kind: "orchestrate" });
  switch (task.phase) {
    case "ready":
      if (isOver) return end(task, { state: "expired" }, now);
      if (isUnwanted) return end(task, { state: "canceled", output: [] }, now);
      return goOn({ kind: "choose-target" });
    case "submitting":
    case "unknown": {
      const { target, handle } = task;
      if (isOver) return goOn({ kind: "abandon", target, handle });
      if (isUnwanted && task.phase === "unknown") return end(task, { state: "canceled", output: [] }, now);
      // Only a crash leaves a task in mid-submission.
      return goOn({ kind: "recover", target });
    }
    case "running": {
      const { target, handle } = task;
      if (isOver) return goOn({ kind: "abandon", target, handle });
      return goOn({ kind: mustStop(task) ? "stop" : "poll", job: { target, handle } });
    }
    case "ended":
      return nothingChanges;
  }
}

/** Narrows to a task that an upstream is running. */
function getRunning(task: Task): RunningTask {
  invariant(task.phase === "running" && !isComposite(task), `${task.id} is at no upstream`);
  return task;
}

/** Retries the cancel for a while: vendors bill abandoned work. */
function expire(task: Task, { isUpstreamAsked }: Extract<Outcome, { kind: "abandoned" }>, now: Date): Transition {
  const isGraceOver = now.getTime() - task.deadlineAt.getTime() >= abandonMsMax;
  if (isUpstreamAsked || isGraceOver) return end(task, { state: "expired" }, now);
  return { ...nothingChanges, lease: { kind: "due", at: new Date(now.getTime() + brokenMs) } };
}

/** Whether the upstream still has to be asked to stop. */
function mustStop({ cancelRequestedAt, cancelAskedAt }: Task): boolean {
  return cancelRequestedAt !== null && cancelAskedAt === null;
}

function goOn(next: Step): Transition {
  return { ...nothingChanges, next };
}

function write(change: TaskChange, lease: LeaseChange): Transition {
  return { ...nothingChanges, change, lease };
}

/** Never later than the deadline: a worker has to enforce it. */
function dueIn({ deadlineAt }: Task, delayMs: number, now: Date): LeaseChange & { kind: "due" } {
  return { kind: "due", at: new Date(Math.min(now.getTime() + delayMs, deadlineAt.getTime())) };
}

function wait(task: Task, delayMs: number, now: Date): Transition {
  return { ...nothingChanges, lease: dueIn(task, delayMs, now) };
}

function collect(outcome: { outputs: readonly MadeOutput[]; upstream: Upstream }, as: "succeeded" | "canceled") {
  return goOn({ kind: "collect", outputs: outcome.outputs, as, upstream: outcome.upstream });
}

/** The target is written before the task is submitted to it, so a crash in between never causes a blind resubmission. */
function enter(task: Task, { handover, upstream }: Extract<Outcome, { kind: "target-chosen" }>, now: Date): Transition {
  const { target, limits } = upstream;
  const { providerId } = target;
  const whenFull = write({ waitsFor: providerId }, dueIn(task, fullMs, now));
  return {
    ...write({ phase: "submitting", target, waitsFor: null }, { kind: "keep" }),
    admission: limits === null ? null : { providerId, limits, whenFull },
    next: { kind: "submit", handover },
  };
}

const pollShare = 0.1;
const jitterShare = 0.2;

/** Exponential backoff with jitter: the longer work takes, the less often it is polled. */
function pollLater(
  task: Task,
  { upstream: { pollMsMin, pollMsMax, jitter }, since }: { upstream: Upstream; since: Date },
  now: Date,
): LeaseChange & { kind: "due" } {
  const elapsedMs = now.getTime() - since.getTime();
  const delayMs = Math.min(Math.max(elapsedMs * pollShare, pollMsMin), pollMsMax);
  // Never faster than the upstream allows.
  return dueIn(task, Math.max(pollMsMin, Math.round(delayMs * (1 - jitterShare + 2 * jitterShare * jitter))), now);
}

/** After a failed poll: as usual, but not before `Retry-After`. */
function pollAgain(
  task: RunningTask,
  { retryAfterMs, upstream }: Extract<Outcome, { kind: "unreachable" }>,
  now: Date,
): LeaseChange & { kind: "due" } {
  const usual = pollRunning(task, upstream, now);
  const asked = dueIn(task, Math.min(retryAfterMs ?? 0, pollAgainMsMax), now);
  return asked.at > usual.at ? asked : usual;
}

function pollRunning(task: RunningTask, upstream: Upstream, now: Date): LeaseChange & { kind: "due" } {
  return pollLater(task, { upstream, since: task.submittedAt }, now);
}

/** Another target may succeed, unless the request itself is at fault. */
function failOver(
  task: Task,
  { error, upstream, isBegun }: { error: ProviderError; upstream: Upstream; isBegun: boolean },
  now: Date,
): Transition {
  const { target, hasAlternative } = upstream;
  const isFull = !isBegun && !hasAlternative && isBusy(error);
  const isLast = !isWorthAnotherTarget(error) || task.tried.length + 1 >= attemptsMax;
  if (!isFull && (isLast || task.cancelRequestedAt !== null)) return fail(task, error, now);
  // A full upstream has not failed: the task waits for it.
  const waitMs = isFull ? Math.min(Math.max(error.retryAfterMs ?? limitedMs, limitedMsMin), circuitOpenMsMax) : 0;
  const tried = isFull ? task.tried : [...task.tried, target];
  const change = { phase: "ready", handle: null, submittedAt: null, lostAt: null, tried } as const;
  return { ...write(change, dueIn(task, waitMs, now)), frees: target.providerId };
}

/** Without a `Retry-After`, a 5xx may be permanent. */
function isBusy({ kind, retryAfterMs }: ProviderError): boolean {
  return kind === "rate-limited" || (kind === "overloaded" && retryAfterMs !== null);
}

/** The upstream may have the task, so it is never resubmitted: the worker finds it there, or its deadline ends it. */
function becomeUnknown(task: Task, upstream: Upstream | null, now: Date): Transition {
  if (task.parentId !== null) return resubmit(task, upstream, now);
  if (upstream?.keepsWork === false) {
    // This upstream keeps no jobs, so waiting would not find it.
    return fail(task, new ProviderError("timeout", "The upstream's response was lost."), now);
  }
  const lease = dueIn(task, unknownMs, now);
  return task.phase === "unknown" ? { ...nothingChanges, lease } : write({ phase: "unknown" }, lease);
}

/** The parent pays once however often its child runs, so the child is resubmitted once, then sent to another target. */
function resubmit(task: Task, upstream: Upstream | null, now: Date): Transition {
  if (task.lostAt !== null && upstream !== null) {
    const error = new ProviderError("timeout", "The upstream's response was lost twice.");
    return failOver(task, { error, upstream, isBegun: true }, now);
  }
  return write({ phase: "ready", handle: null, submittedAt: null, lostAt: now }, { kind: "due", at: now });
}

function noteProgress(
  task: RunningTask,
  { isStarted, progress, handle, upstream }: Extract<Outcome, { kind: "running" }>,
  now: Date,
): Transition {
  const lease = pollRunning(task, upstream, now);
  const reported = Math.min(Math.floor(progress ?? 0), progressMax);
  const grown = reported > task.progress ? reported : task.progress;
  const begins = isStarted && task.state === "queued";
  const isVisible = begins || grown > task.progress;
  if (!isVisible && handle === undefined && task.lostAt === null) return { ...nothingChanges, lease };
  const change: TaskChange = {
    progress: grown,
    lostAt: null,
    ...(begins ? { state: "processing", startedAt: now } : {}),
    ...(handle === undefined ? {} : { handle }),
  };
  return { ...write(change, lease), isVisible };
}

/** Gives an upstream that does not know the task, or does not deliver its output, some time to recover. */
function waitForUpstream(task: RunningTask, upstream: Upstream, now: Date): Transition {
  const lease = pollRunning(task, upstream, now);
  if (task.lostAt === null) return write({ lostAt: now }, lease);
  if (now.getTime() - task.lostAt.getTime() < lostMsMax) return { ...nothingChanges, lease };
  const error = new ProviderError("bad-answer", "The upstream lost the task or its output.");
  // The parent pays once however often its child runs; any other task may still arrive, and be billed.
  return task.parentId === null ? fail(task, error, now) : failOver(task, { error, upstream, isBegun: true }, now);
}

function decideUncollectable(
  task: Task,
  { error, isUseless, as, upstream }: Extract<Outcome, { kind: "uncollectable" }>,
  now: Date,
): Transition {
  // Output of a synchronous submission is available now or never.
  if (isUseless || task.phase !== "running") return failOver(task, { error, upstream, isBegun: true }, now);
  // Retrying the cancel also reads the outputs again.
  return as === "canceled" && mustStop(task)
    ? wait(task, brokenMs, now)
    : waitForUpstream(getRunning(task), upstream, now);
}

function unaskedCancel(): ProviderError {
  return new ProviderError("bad-answer", "The upstream canceled a task without being asked.");
}

function changeSteps(
  task: Task,
  { steps, progress, children }: Extract<Outcome, { kind: "steps-changed" }>,
  now: Date,
): Transition {
  const change = {
    state: "processing",
    phase: "running",
    startedAt: task.startedAt ?? now,
    progress: Math.max(task.progress, Math.min(Math.floor(progress), progressMax)),
    steps,
  } as const;
  return { ...write(change, { kind: "keep" }), isVisible: true, children };
}

/** A task that no upstream has started ends at once; otherwise the upstream decides how it ends. */
function requestCancel(
  task: Task,
  { isCancelable }: Extract<Outcome, { kind: "cancel-requested" }>,
  now: Date,
): Transition {
  if (task.cancelRequestedAt !== null) return nothingChanges;
  // A composite task keeps its finished steps; its unfinished steps end with it.
  if (task.phase === "ready" || task.phase === "unknown" || isComposite(task)) {
    return end(task, { state: "canceled", output: listFinished(task) }, now);
  }
  if (!isCancelable) return { ...nothingChanges, refusal: "not-cancelable" };
  // The worker that is submitting the task must not lose it: only that worker learns the handle to cancel.
  const lease = task.phase === "running" ? ({ kind: "revoke", at: now } as const) : ({ kind: "keep" } as const);
  return { ...write({ cancelRequestedAt: now }, lease), isVisible: true };
}

function fail(task: Task, error: ProviderError, now: Date): Transition {
  return end(task, { state: "failed", error: explainFailure(error, task.type === "speech" ? "input" : "prompt") }, now);
}

/** Decides state, money and event of an end together. */
function end(task: Task, ending: TaskEnd, now: Date): Transition {
  const { state } = ending;
  const output = ("output" in ending ? ending.output : undefined) ?? [];
  const steps = ("steps" in ending ? ending.steps : undefined) ?? task.steps;
  const money = decideMoney(task, output);
  const change: TaskChange = {
    state,
    phase: "ended",
    output,
    units: money.units,
    finishedAt: now,
    ...(steps.length === 0 ? {} : { steps: endSteps(steps, state) }),
    ...(ending.state === "succeeded" ? { progress: 100, warnings: ending.warnings } : {}),
    ...(ending.state === "failed" ? { error: ending.error } : {}),
  };
  return {
    ...write(change, { kind: "end" }),
    isVisible: true,
    // Child tasks emit no events; the parent polls them.
    end: { money, event: task.parentId === null ? `task.${state}` : null, cancelsChildren: task.steps.length > 0 },
    // A task waiting for a target has already released its permit.
    frees: task.phase === "ready" ? null : (task.target?.providerId ?? null),
  };
}

function decideMoney({ holdId, terms }: Task, output: readonly TaskOutput[]): Money {
  const { bill, units } = billDelivered(terms, output);
  if (holdId === null) return { kind: "none", units };
  if (bill === null) return { kind: "release", units };
  return { kind: "settle", bill, units, budgetAmount: terms.budgetAmount };
}

/** Steps in progress end like the task; after a failure, steps that had not started are canceled. */
function endSteps(steps: readonly StepRecord[], state: FinalState): StepRecord[] {
  return steps.map((step) => {
    if (isFinal(step.state)) return step;
    const isBegun = step.state === "processing";
    return { ...step, state: state === "failed" && !isBegun ? "canceled" : state };
  });
}

function describeCollected(task: Task, { output, as }: Extract<Outcome, { kind: "collected" }>): TaskEnd {
  if (as === "canceled") return { state: "canceled", output };
  return { state: "succeeded", output, warnings: warnOfFewer(task, output.length) };
}

function warnOfFewer({ outputIds }: Task, count: number): TaskWarning[] {
  if (count >= outputIds.length) return [];
  const message = `${count} of ${outputIds.length} outputs were generated. Only those are charged.`;
  return [{ code: "fewer_outputs", message }];
}

/** The outputs of a composite task's finished, billable steps, latest first. */
export function listFinished({ steps, terms }: Pick<Task, "steps" | "terms">): TaskOutput[] {
  const paid = "stages" in terms ? terms.stages.map(({ step }) => step) : [];
  const finished = steps.filter(({ name, state }) => state === "succeeded" && paid.includes(name));
  return finished.toReversed().flatMap(({ output }) => output);
}
