import { invariant } from "../../../lib/invariant.ts";
import { ProviderError } from "../../../providers/contract.ts";
import { isWorthAnotherTarget } from "../../../providers/failures/failure-table.ts";
import type { MadeOutput } from "../../../providers/generation.ts";
import { billDelivered } from "../quote-task.ts";
import {
  type FinalState,
  isComposite,
  isFinal,
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
  type LeaseChange,
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
  semaphore: null,
  children: [],
  frees: null,
  refusal: null,
  next: null,
};

/** How many targets a task is handed to. Each may work on it for long, so there are fewer than for a call. */
const attemptsMax = 3;
const progressMax = 99;
const circuitOpenMsMax = 30_000;
/** A task that waits for a permit is woken when one is free; this is for when that wake-up is lost. */
const fullMs = 10_000;
const fullMsMin = 1_000;
const routeGoneMs = 30_000;
const unknownMs = 30_000;
/** A step that failed for a reason of ours is tried again after this. */
const brokenMs = 5_000;
/** For how long past its deadline a task stays open because its upstream cannot be asked to cancel it. */
const abandonMsMax = 60_000;
/** How long an upstream may not know a task, or not hand over what it made, before that is believed. */
const lostMsMax = 120_000;

/**
 * What follows from what is written and what came of it: every rule of a task's life, and no effect. Any worker comes to
 * the same transition after any crash.
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

/** Our own code is wrong: the step fails, is logged and taken again, and nothing is written. */
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
      // Some upstreams simply forget what they were asked to stop.
      if (task.cancelAskedAt !== null) return end(task, { state: "canceled", output: [] }, now);
      return waitForUpstream(getRunning(task), outcome.upstream, now);
    case "unreachable":
      return { ...nothingChanges, lease: pollRunning(getRunning(task), outcome.upstream, now) };
    case "route-gone":
      // The route may come back, else the deadline ends the task.
      return mustStop(task) ? end(task, { state: "canceled", output: [] }, now) : wait(task, routeGoneMs, now);
    case "stopped":
      return collect(outcome, "canceled");
    case "stop-refused":
      // It goes on, and ends as the upstream says.
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
      // One that is being handed over is claimed by a worker that must not lose it; if that died, its lease runs out.
      return task.phase === "submitting" ? nothingChanges : { ...nothingChanges, lease: { kind: "revoke", at: now } };
    case "broken":
      return wait(task, brokenMs, now);
    case "interrupted":
      return wait(task, 0, now);
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
      // Only a crash leaves a task in the middle of being handed over.
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

/** The task that an upstream was asked about. */
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

/** Never later than the task's deadline, which a worker has to see to. */
function dueIn({ deadlineAt }: Task, delayMs: number, now: Date): LeaseChange & { kind: "due" } {
  return { kind: "due", at: new Date(Math.min(now.getTime() + delayMs, deadlineAt.getTime())) };
}

function wait(task: Task, delayMs: number, now: Date): Transition {
  return { ...nothingChanges, lease: dueIn(task, delayMs, now) };
}

function collect(outcome: { outputs: readonly MadeOutput[]; upstream: Upstream }, as: "succeeded" | "canceled") {
  return goOn({ kind: "collect", outputs: outcome.outputs, as, upstream: outcome.upstream });
}

/** Where the task goes is written before it goes there, so that a crash in between sends it nowhere blindly. */
function enter(task: Task, { handover, upstream }: Extract<Outcome, { kind: "target-chosen" }>, now: Date): Transition {
  const { target, permitsMax } = upstream;
  const { providerId } = target;
  const whenFull = write({ waitsFor: providerId }, dueIn(task, fullMs, now));
  return {
    ...write({ phase: "submitting", target, waitsFor: null }, { kind: "keep" }),
    semaphore: permitsMax === null ? null : { providerId, permitsMax, whenFull },
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
  return dueIn(task, Math.round(delayMs * (1 - jitterShare + 2 * jitterShare * jitter)), now);
}

function pollRunning(task: RunningTask, upstream: Upstream, now: Date): LeaseChange & { kind: "due" } {
  return pollLater(task, { upstream, since: task.submittedAt }, now);
}

/** Another target may do better; where the request itself is at fault, none would. */
function failOver(
  task: Task,
  { error, upstream, isBegun }: { error: ProviderError; upstream: Upstream; isBegun: boolean },
  now: Date,
): Transition {
  const { target, hasAlternative } = upstream;
  const isFull = !isBegun && error.kind === "rate-limited" && !hasAlternative;
  const isLast = !isWorthAnotherTarget(error) || task.tried.length + 1 >= attemptsMax;
  if (!isFull && (isLast || task.cancelRequestedAt !== null)) return fail(task, error, now);
  // An upstream without room is no worse than before: the task has time, and waits.
  const waitMs = isFull ? Math.min(Math.max(error.retryAfterMs ?? fullMs, fullMsMin), circuitOpenMsMax) : 0;
  const tried = isFull ? task.tried : [...task.tried, target];
  const change = { phase: "ready", handle: null, submittedAt: null, lostAt: null, tried } as const;
  return { ...write(change, dueIn(task, waitMs, now)), frees: target.providerId };
}

/** Whether the upstream has it is unknown, so it is never sent a second time: it is found, or its deadline ends it. */
function becomeUnknown(task: Task, upstream: Upstream | null, now: Date): Transition {
  if (task.parentId !== null) return sendAnew(task, upstream, now);
  if (upstream?.keepsWork === false) {
    // Nobody will ever know, so there is nothing to wait for.
    return fail(task, new ProviderError("timeout", "What came of the work got lost on the way."), now);
  }
  const lease = dueIn(task, unknownMs, now);
  return task.phase === "unknown" ? { ...nothingChanges, lease } : write({ phase: "unknown" }, lease);
}

/**
 * A child is paid with its parent, however often it is made, and its parent waits: it is sent once more, and where it
 * gets lost again, to another target.
 */
function sendAnew(task: Task, upstream: Upstream | null, now: Date): Transition {
  if (task.lostAt !== null && upstream !== null) {
    const error = new ProviderError("timeout", "What came of the work got lost on the way, twice.");
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
  const told = Math.min(Math.floor(progress ?? 0), progressMax);
  const grown = told > task.progress ? told : task.progress;
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

/** An upstream that does not know the task, or does not hand over what it made, may come to its senses for a while. */
function waitForUpstream(task: RunningTask, upstream: Upstream, now: Date): Transition {
  const lease = pollRunning(task, upstream, now);
  if (task.lostAt === null) return write({ lostAt: now }, lease);
  if (now.getTime() - task.lostAt.getTime() < lostMsMax) return { ...nothingChanges, lease };
  const error = new ProviderError("bad-answer", "The upstream lost the task, or what came of it.");
  // A child is paid with its parent, however often it is made; anything else may still arrive, and be billed.
  return task.parentId === null ? fail(task, error, now) : failOver(task, { error, upstream, isBegun: true }, now);
}

function decideUncollectable(
  task: Task,
  { error, isUseless, as, upstream }: Extract<Outcome, { kind: "uncollectable" }>,
  now: Date,
): Transition {
  // What was made while the submission waited is there now or never.
  if (isUseless || task.phase !== "running") return failOver(task, { error, upstream, isBegun: true }, now);
  // Stopping it is repeated, and with it the question for what there is.
  return as === "canceled" && mustStop(task)
    ? wait(task, brokenMs, now)
    : waitForUpstream(getRunning(task), upstream, now);
}

function unaskedCancel(): ProviderError {
  return new ProviderError("bad-answer", "The upstream canceled a task that nobody asked it to.");
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

/** A task that no upstream has begun ends at once; one that an upstream has ends as the upstream says. */
function requestCancel(
  task: Task,
  { isCancelable }: Extract<Outcome, { kind: "cancel-requested" }>,
  now: Date,
): Transition {
  if (task.cancelRequestedAt !== null) return nothingChanges;
  // What a composite task had finished is known, and what it had not ends with it.
  if (task.phase === "ready" || task.phase === "unknown" || isComposite(task)) {
    return end(task, { state: "canceled", output: listFinished(task) }, now);
  }
  if (!isCancelable) return { ...nothingChanges, refusal: "not-cancelable" };
  // While it is being handed over, its worker must not lose it: nobody else knows what would have to be stopped.
  const lease = task.phase === "running" ? ({ kind: "revoke", at: now } as const) : ({ kind: "keep" } as const);
  return { ...write({ cancelRequestedAt: now }, lease), isVisible: true };
}

function fail(task: Task, error: ProviderError, now: Date): Transition {
  return end(task, { state: "failed", error: explainFailure(error) }, now);
}

/** State, money and event of an end, decided together. */
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
    // Of a child nobody hears but its parent, which looks.
    end: { money, event: task.parentId === null ? `task.${state}` : null, cancelsChildren: task.steps.length > 0 },
    // A task that waits for a target has given back its permit.
    frees: task.phase === "ready" ? null : (task.target?.providerId ?? null),
  };
}

function decideMoney({ holdId, terms }: Task, output: readonly TaskOutput[]): Money {
  const { bill, units } = billDelivered(terms, output);
  if (holdId === null) return { kind: "none", units };
  if (bill === null) return { kind: "release", units };
  return { kind: "settle", bill, units, budgetAmount: terms.budgetAmount };
}

/** What a task was just doing ends as the task does; what it had not begun will never be. */
function endSteps(steps: readonly StepRecord[], state: FinalState): StepRecord[] {
  return steps.map((step) => {
    if (isFinal(step.state)) return step;
    const isBegun = step.state === "processing";
    return { ...step, state: state === "failed" && !isBegun ? "canceled" : state };
  });
}

function describeCollected(task: Task, { output, as }: Extract<Outcome, { kind: "collected" }>): TaskEnd {
  if (as === "canceled") return { state: "canceled", output };
  return { state: "succeeded", output, warnings: [...warnOfFewer(task, output.length), ...warnOfUnheeded(task)] };
}

function warnOfFewer({ outputIds }: Task, count: number): TaskWarning[] {
  if (count >= outputIds.length) return [];
  const message = `${count} of ${outputIds.length} outputs were made. Only they are charged.`;
  return [{ code: "fewer_outputs", message }];
}

function warnOfUnheeded({ request }: Task): TaskWarning[] {
  const names = request.type === "image" ? (request.unheeded ?? []) : [];
  return names.map((name) => ({
    code: "unheeded_parameter",
    message: `\`${name}\` made no difference: this model has no choice of it.`,
  }));
}

/** What a composite task has to show for itself: what those of its steps made that are paid for, the latest first. */
export function listFinished({ steps, terms }: Pick<Task, "steps" | "terms">): TaskOutput[] {
  const paid = "stages" in terms ? terms.stages.map(({ step }) => step) : [];
  const finished = steps.filter(({ name, state }) => state === "succeeded" && paid.includes(name));
  return finished.toReversed().flatMap(({ output }) => output);
}
