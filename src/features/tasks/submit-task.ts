import { inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { chooseTarget } from "../../providers/choose-target.ts";
import { ProviderError } from "../../providers/contract.ts";
import type { GenerationCall, GenerationInput, MadeOutput, SubmitOutcome } from "../../providers/generation.ts";
import { describeOutcome, isWorthAnotherTarget } from "../../providers/judge-failure.ts";
import { collectOutputs } from "./collect-outputs.ts";
import { choosePollDelayMs, type NextLook } from "./decide-step.ts";
import { describeAppError, explainFailure } from "./explain-failure.ts";
import { finishTask } from "./finish-task.ts";
import { loadInputs } from "./load-inputs.ts";
import type { MediaTask } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";
import { countAtProvider, countOlderWaiting, lockTask, moveTask, updateTask } from "./task-store.ts";
import {
  findTaskTarget,
  isSameTarget,
  listAbleTargets,
  listTaskTargets,
  nameTarget,
  type TaskTarget,
} from "./task-target.ts";
import { resetTurn, wakeWaitingTask } from "./turn-store.ts";

const attemptsMax = 3;
const restMsMax = 30_000;
/** A task that waits for a place is woken when one is free; this is for when that goes unheard. */
const fullMs = 10_000;
const fullMsMin = 1_000;

/** Finds an upstream for a task and hands it over. */
export async function submitTask(parts: TaskParts, task: MediaTask, signal: AbortSignal): Promise<NextLook> {
  const targets = listTaskTargets(parts.catalog.current(), task.model, parts.registry);
  const { able } = listAbleTargets(targets, task.request);
  const tried = able.filter((target) => task.tried.some((one) => isSameTarget(one, target)));
  const choice =
    task.tried.length < attemptsMax
      ? chooseTarget<TaskTarget>(able, { tried, waitMs: parts.health.waitMs, random: parts.random })
      : ({ kind: "none", retryAfterMs: null } as const);
  if (choice.kind === "none") {
    // Nothing can serve it now; while something may again, it waits.
    if (choice.retryAfterMs !== null) return later(parts, task, Math.min(choice.retryAfterMs, restMsMax));
    const error = new ProviderError("unreachable", "No target of the model is left to try.");
    await finishTask(parts, task, { state: "failed", error: explainFailure(error) });
    return null;
  }
  const inputs = await prepareInputs(parts, task, signal);
  if (inputs === null) return null;
  const place = await takePlace(parts, task, choice.target);
  if (place === "lost") return null;
  if (place === "full") return later(parts, task, fullMs);
  parts.reach("target-written");
  return await handOver(parts, task, { target: choice.target, inputs, signal });
}

/** Whoever was handing it over died. Only where the upstream can tell, or where twice does no harm, is it tried again. */
export async function recoverTask(parts: TaskParts, task: MediaTask, signal: AbortSignal): Promise<NextLook> {
  const targets = listTaskTargets(parts.catalog.current(), task.model, parts.registry);
  const target = findTaskTarget(targets, task.target);
  if (target === null) return await becomeUnknown(parts, task, null);
  const inputs = await prepareInputs(parts, task, signal);
  if (inputs === null) return null;
  if (target.generation.traits.isRepeatable) return await handOver(parts, task, { target, inputs, signal });
  if (target.generation.find === undefined) return await becomeUnknown(parts, task, target);
  const handle = await target.generation.find(describeCall(task, { target, inputs, signal }));
  if (handle !== null) return await becomeRunning(parts, task, { target, handle });
  return await becomeUnknown(parts, task, target);
}

/** Inputs that cannot be used are the caller's fault: nothing is tried. */
async function prepareInputs(
  parts: TaskParts,
  task: MediaTask,
  signal: AbortSignal,
): Promise<GenerationInput[] | null> {
  try {
    return await loadInputs(parts, task, signal);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    await finishTask(parts, task, { state: "failed", error: describeAppError(error) });
    return null;
  }
}

/** Writes where the task goes before it goes there, if the upstream may have another one. */
async function takePlace(parts: TaskParts, task: MediaTask, target: TaskTarget): Promise<"taken" | "full" | "lost"> {
  const now = parts.clock.now();
  const { tasks_max: placesMax } = target.provider;
  const change = { phase: "submitting", target: nameTarget(target), waitsFor: null } as const;
  if (placesMax === undefined) {
    return (await moveTask(parts.database, task, { change, nextPollAt: null, now })) ? "taken" : "lost";
  }
  return await inTransaction(parts.database, async (tx) => {
    if ((await lockTask(tx, task)) === null) return "lost";
    const { providerId } = target;
    const ahead = (await countAtProvider(tx, providerId)) + (await countOlderWaiting(tx, { id: task.id, providerId }));
    const isFull = ahead >= placesMax;
    await updateTask(tx, task.id, isFull ? { waitsFor: target.providerId } : change, now);
    return isFull ? "full" : "taken";
  });
}

type Handing = { target: TaskTarget; inputs: readonly GenerationInput[]; signal: AbortSignal };

export function describeCall(task: MediaTask, { target, inputs, signal }: Handing): GenerationCall {
  return {
    taskId: task.id,
    request: task.request,
    inputs,
    upstreamModel: target.upstreamModel,
    apiKey: target.apiKey,
    timeoutMs: target.timeoutMs,
    signal,
  };
}

async function handOver(parts: TaskParts, task: MediaTask, handing: Handing): Promise<NextLook> {
  const { target, signal } = handing;
  const outcome = await submitTo(parts, task, handing);
  parts.reach("submitted");
  if (outcome instanceof ProviderError) {
    reportFailure(parts, task, target, outcome);
    return await failTarget(parts, task, { target, error: outcome, isBegun: false });
  }
  switch (outcome.kind) {
    case "accepted":
      return await becomeRunning(parts, task, { target, handle: outcome.handle });
    case "done":
      return await collectAtOnce(parts, task, { target, made: outcome.outputs, signal });
    case "ambiguous":
      reportFailure(parts, task, target, outcome.error);
      return await becomeUnknown(parts, task, target);
  }
}

/** The error of an upstream that certainly has not begun. */
async function submitTo(parts: TaskParts, task: MediaTask, handing: Handing): Promise<SubmitOutcome | ProviderError> {
  const { target } = handing;
  const call = { isProbe: parts.health.begin(target) };
  try {
    const outcome = await target.generation.submit(describeCall(task, handing));
    const health = outcome.kind === "ambiguous" ? describeOutcome(outcome.error) : ({ kind: "answered" } as const);
    parts.health.report(target, health, call);
    return outcome;
  } catch (error) {
    if (!(error instanceof ProviderError)) {
      parts.health.report(target, { kind: "abandoned" }, call);
      throw error;
    }
    parts.health.report(target, describeOutcome(error), call);
    return error;
  }
}

/** What was made while we waited is there now or never: what cannot be fetched has to be made by another. */
async function collectAtOnce(
  parts: TaskParts,
  task: MediaTask,
  { target, made, signal }: { target: TaskTarget; made: readonly MadeOutput[]; signal: AbortSignal },
): Promise<NextLook> {
  try {
    return await collectOutputs(parts, task, { made, end: "succeeded", signal });
  } catch (error) {
    if (signal.aborted || !(error instanceof ProviderError)) throw error;
    reportFailure(parts, task, target, error);
    return await failTarget(parts, task, { target, error, isBegun: true });
  }
}

/** Another target may do better; where the request itself is at fault, none would. */
export async function failTarget(
  parts: TaskParts,
  task: MediaTask,
  { target, error, isBegun }: { target: TaskTarget; error: ProviderError; isBegun: boolean },
): Promise<NextLook> {
  const now = parts.clock.now();
  const isFull = !isBegun && error.kind === "rate-limited" && !hasOtherTarget(parts, task, target);
  const isLast = !isWorthAnotherTarget(error) || task.tried.length + 1 >= attemptsMax;
  if (!isFull && (isLast || task.cancelRequestedAt !== null)) {
    await finishTask(parts, task, { state: "failed", error: explainFailure(error) });
    return null;
  }
  // One that has no room is no worse than before: the task has time, and waits.
  const waitMs = isFull ? Math.min(Math.max(error.retryAfterMs ?? fullMs, fullMsMin), restMsMax) : 0;
  const left = await inTransaction(parts.database, async (tx) => {
    const current = await lockTask(tx, task);
    if (current === null) return null;
    const tried = [...current.tried, ...(isFull ? [] : [nameTarget(target)])];
    await updateTask(tx, task.id, { phase: "ready", handle: null, submittedAt: null, lostAt: null, tried }, now);
    await resetTurn(tx, task.id, new Date(now.getTime() + waitMs));
    return target;
  });
  if (left !== null) await wakeWaitingTask(parts.database, left.providerId, now);
  parts.wake();
  return null;
}

function hasOtherTarget(parts: TaskParts, task: MediaTask, target: TaskTarget): boolean {
  const targets = listTaskTargets(parts.catalog.current(), task.model, parts.registry);
  const { able } = listAbleTargets(targets, task.request);
  const gone = [...task.tried, target];
  return able.some((other) => !gone.some((one) => isSameTarget(one, other)));
}

async function becomeRunning(
  parts: TaskParts,
  task: MediaTask,
  { target, handle }: { target: TaskTarget; handle: NonNullable<MediaTask["handle"]> },
): Promise<NextLook> {
  const now = parts.clock.now();
  const { pollMsMin, pollMsMax } = target.generation.traits;
  const delayMs = choosePollDelayMs({ ...task, submittedAt: now }, { now, random: parts.random, pollMsMin, pollMsMax });
  const nextPollAt = new Date(now.getTime() + delayMs);
  const change = { phase: "running", handle, submittedAt: now, lostAt: null } as const;
  await moveTask(parts.database, task, { change, nextPollAt, now });
  parts.reach("handle-written");
  return null;
}

const unknownMs = 30_000;

/** Nobody knows whether the upstream has it, so it is never sent a second time: it is found, or its deadline ends it. */
async function becomeUnknown(parts: TaskParts, task: MediaTask, target: TaskTarget | null): Promise<NextLook> {
  const now = parts.clock.now();
  if (task.parentId !== null) return await sendAnew(parts, task, target);
  if (target?.generation.traits.keepsWork === false) {
    // Nobody will ever know, so there is nothing to wait for.
    const error = new ProviderError("timeout", "What came of the work got lost on the way.");
    await finishTask(parts, task, { state: "failed", error: explainFailure(error) });
    return null;
  }
  const nextPollAt = new Date(Math.min(now.getTime() + unknownMs, task.deadlineAt.getTime()));
  if (task.phase === "unknown") return nextPollAt;
  await moveTask(parts.database, task, { change: { phase: "unknown" }, nextPollAt, now });
  return null;
}

/**
 * What another task needs is paid with that, however often it is made, and that task waits: it is sent once more, and
 * where it gets lost again, to another target.
 */
async function sendAnew(parts: TaskParts, task: MediaTask, target: TaskTarget | null): Promise<NextLook> {
  const now = parts.clock.now();
  if (task.lostAt !== null && target !== null) {
    const error = new ProviderError("timeout", "What came of the work got lost on the way, twice.");
    return await failTarget(parts, task, { target, error, isBegun: true });
  }
  const change = { phase: "ready", handle: null, submittedAt: null, lostAt: now } as const;
  await moveTask(parts.database, task, { change, nextPollAt: now, now });
  parts.wake();
  return null;
}

export function reportFailure(parts: TaskParts, task: MediaTask, target: TaskTarget, error: ProviderError): void {
  const { providerId, upstreamModel, keyNumber } = target;
  const place = { provider: providerId, upstream_model: upstreamModel, key_number: keyNumber };
  parts.logger.warn({ task: task.id, ...place, error }, "upstream failed");
}

/** Never later than the task's deadline, which somebody has to see to. */
export function later({ clock }: TaskParts, { deadlineAt }: MediaTask, delayMs: number): Date {
  return new Date(Math.min(clock.now().getTime() + delayMs, deadlineAt.getTime()));
}
