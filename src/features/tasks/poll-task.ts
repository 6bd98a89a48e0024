import { ProviderError } from "../../providers/contract.ts";
import type { CancelOutcome, GenerationInput, Handle, PollOutcome } from "../../providers/generation.ts";
import { collectOutputs, UselessWork } from "./collect-outputs.ts";
import { choosePollDelayMs, type NextLook } from "./decide-step.ts";
import { explainFailure } from "./explain-failure.ts";
import { finishTask } from "./finish-task.ts";
import { loadInputs } from "./load-inputs.ts";
import { describeCall, failTarget, later, reportFailure } from "./submit-task.ts";
import type { MediaTask } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";
import { moveTask } from "./task-store.ts";
import { findTaskTarget, listTaskTargets, type TaskTarget } from "./task-target.ts";

/** How long an upstream may not know a task, or not hand over what it made, before that is believed. */
const lostMsMax = 120_000;
const noTargetMs = 30_000;
const progressMax = 99;

/** Asks the upstream how a task stands. A question that fails never fails the task. */
export async function pollTask(parts: TaskParts, task: MediaTask, signal: AbortSignal): Promise<NextLook> {
  const target = findTarget(parts, task);
  // The operator took the route out of the catalog; it may come back, else the deadline ends the task.
  if (target === null || task.handle === null) return later(parts, task, noTargetMs);
  const outcome = await askUpstream(parts, task, { target, handle: task.handle, signal });
  parts.reach("polled");
  if (outcome === null) return chooseNextPoll(parts, task, target, parts.clock.now());
  try {
    return await actOn(parts, task, { target, outcome, signal });
  } catch (error) {
    // What was made could not be fetched; it may be in a moment.
    if (signal.aborted || !(error instanceof ProviderError)) throw error;
    reportFailure(parts, task, target, error);
    if (error instanceof UselessWork) return await failTarget(parts, task, { target, error, isBegun: true });
    return await waitForUpstream(parts, task, target);
  }
}

/** `null` where the upstream could not be asked. */
async function askUpstream(
  parts: TaskParts,
  task: MediaTask,
  { target, handle, signal }: { target: TaskTarget; handle: Handle; signal: AbortSignal },
): Promise<PollOutcome | null> {
  try {
    return await target.generation.poll(handle, describePoll(parts, task, target, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    reportFailure(parts, task, target, toProviderError(error));
    return null;
  }
}

/** Asks the upstream to stop, then how the task stands. */
export async function stopTask(parts: TaskParts, task: MediaTask, signal: AbortSignal): Promise<NextLook> {
  const now = parts.clock.now();
  const target = findTarget(parts, task);
  if (target === null || task.handle === null) {
    await finishTask(parts, task, { state: "canceled", output: [] });
    return null;
  }
  const outcome = await askToStop(parts, task, { target, handle: task.handle, signal });
  parts.reach("cancel-asked");
  if (outcome !== "canceled") {
    // It goes on, and ends as the upstream says.
    await moveTask(parts.database, task, { change: { cancelAskedAt: now }, nextPollAt: now, now });
    parts.wake();
    return null;
  }
  const poll = await target.generation.poll(task.handle, describePoll(parts, task, target, signal)).catch(() => null);
  const made = poll !== null && (poll.kind === "canceled" || poll.kind === "done") ? poll.outputs : [];
  return await collectOutputs(parts, task, { made, end: "canceled", signal });
}

/** A wish that could not be told is as one that was not granted: the task goes on, and how it ends is seen. */
async function askToStop(
  parts: TaskParts,
  task: MediaTask,
  { target, handle, signal }: { target: TaskTarget; handle: Handle; signal: AbortSignal },
): Promise<CancelOutcome> {
  try {
    return await target.generation.cancel(handle, describePoll(parts, task, target, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    reportFailure(parts, task, target, toProviderError(error));
    return "requested";
  }
}

function findTarget(parts: TaskParts, task: MediaTask): TaskTarget | null {
  return findTaskTarget(listTaskTargets(parts.catalog.current(), task.model, parts.registry), task.target);
}

/** An upstream that only wants to know how its work stands does not need what the work started from. */
function describePoll(parts: TaskParts, task: MediaTask, target: TaskTarget, signal: AbortSignal) {
  let loaded: Promise<GenerationInput[]> | null = null;
  const inputs = task.inputs.map((input, index): GenerationInput => {
    const load = async (): Promise<GenerationInput | undefined> => {
      loaded ??= loadInputs(parts, task, signal);
      return (await loaded)[index];
    };
    return {
      role: input.role,
      contentType: "application/octet-stream",
      bytes: 0,
      url: null,
      async open() {
        const input = await load();
        if (input === undefined) throw new ProviderError("rejected", "What the task started from is gone.");
        return await input.open();
      },
    };
  });
  return describeCall(task, { target, inputs, signal });
}

async function actOn(
  parts: TaskParts,
  task: MediaTask,
  { target, outcome, signal }: { target: TaskTarget; outcome: PollOutcome; signal: AbortSignal },
): Promise<NextLook> {
  switch (outcome.kind) {
    case "running":
      return await noteProgress(parts, task, target, outcome);
    case "done":
      return await collectOutputs(parts, task, { made: outcome.outputs, end: "succeeded", signal });
    case "canceled":
      return await endCanceled(parts, task, { target, outcome, signal });
    case "failed":
      reportFailure(parts, task, target, outcome.error);
      return await failTarget(parts, task, { target, error: outcome.error, isBegun: true });
    case "lost":
      // Some upstreams simply forget what they were asked to stop.
      if (task.cancelAskedAt !== null) {
        await finishTask(parts, task, { state: "canceled", output: [] });
        return null;
      }
      return await waitForUpstream(parts, task, target);
  }
}

/** One that nobody asked to stop has failed. */
async function endCanceled(
  parts: TaskParts,
  task: MediaTask,
  {
    target,
    outcome,
    signal,
  }: { target: TaskTarget; outcome: Extract<PollOutcome, { kind: "canceled" }>; signal: AbortSignal },
): Promise<NextLook> {
  if (task.cancelRequestedAt !== null) {
    return await collectOutputs(parts, task, { made: outcome.outputs, end: "canceled", signal });
  }
  const error = new ProviderError("bad-answer", "The upstream canceled a task that nobody asked it to.");
  return await failTarget(parts, task, { target, error, isBegun: true });
}

async function noteProgress(
  parts: TaskParts,
  task: MediaTask,
  target: TaskTarget,
  { isStarted, progress, handle }: Extract<PollOutcome, { kind: "running" }>,
): Promise<NextLook> {
  const now = parts.clock.now();
  const nextPollAt = chooseNextPoll(parts, task, target, now);
  const grown = Math.max(task.progress, Math.min(Math.floor(progress ?? 0), progressMax));
  const begins = isStarted && task.state === "queued";
  const isVisible = begins || grown > task.progress;
  if (!isVisible && handle === undefined && task.lostAt === null) return nextPollAt;
  const change = {
    progress: grown,
    lostAt: null,
    ...(begins ? { state: "processing" as const, startedAt: now } : {}),
    ...(handle === undefined ? {} : { handle }),
    ...(isVisible ? { version: task.version + 1 } : {}),
  };
  const isMoved = await moveTask(parts.database, task, { change, nextPollAt, now });
  if (isMoved && isVisible) parts.watch.announce({ id: task.id, version: task.version + 1 });
  return null;
}

function chooseNextPoll(parts: TaskParts, task: MediaTask, target: TaskTarget, now: Date): Date {
  const { pollMsMin, pollMsMax } = target.generation.traits;
  const delayMs = choosePollDelayMs(task, { now, random: parts.random, pollMsMin, pollMsMax });
  return new Date(Math.min(now.getTime() + delayMs, task.deadlineAt.getTime()));
}

/** An upstream that does not know the task, or does not hand over what it made, may come to its senses for a while. */
async function waitForUpstream(parts: TaskParts, task: MediaTask, target: TaskTarget): Promise<NextLook> {
  const now = parts.clock.now();
  const nextPollAt = chooseNextPoll(parts, task, target, now);
  if (task.lostAt === null) {
    await moveTask(parts.database, task, { change: { lostAt: now }, nextPollAt, now });
    return null;
  }
  if (now.getTime() - task.lostAt.getTime() < lostMsMax) return nextPollAt;
  const error = new ProviderError("bad-answer", "The upstream lost the task, or what came of it.");
  // What another task needs is paid with that, however often it is made; anything else may still arrive, and be billed.
  if (task.parentId !== null) return await failTarget(parts, task, { target, error, isBegun: true });
  await finishTask(parts, task, { state: "failed", error: explainFailure(error) });
  return null;
}

function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError("bad-answer", "The upstream could not be asked.", { cause: error });
}
