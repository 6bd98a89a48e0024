import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../../lib/clock.ts";
import { isDatabaseUnavailable } from "../../../platform/database/database.ts";
import { createOutageLog } from "../../../platform/observability/outage-log.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import type { ClaimedTask } from "../task.ts";
import { advanceTask } from "./advance-task.ts";
import { findPollPause } from "./call-upstream.ts";
import { type HeldLeases, holdLeases } from "./hold-leases.ts";
import { keepWaking } from "./wake-waiting.ts";
import type { WorkerDependencies } from "./worker-dependencies.ts";

/** Claims and advances tasks. */
export type TaskWorker = {
  /** Polls for due tasks at once. Returns `false` if it is full. */
  wake(): boolean;
  /** Claims these tasks at once. Returns `false` if it has no room for all of them. */
  begin(taskIds: readonly string[]): Promise<boolean>;
  /** Stops claiming. Running steps may finish; those that take too long are aborted and released. */
  stop(): void;
  /** Stops, and resolves when the last step has ended. */
  close(): Promise<void>;
};

/** While tasks are open. One that falls due sooner is claimed then. */
const pollEveryMs = 500;
/** While no task is open: a lost wake-up costs at most this. */
const idlePollMs = 2_000;
const claimedAtOnceMax = 200;

/** Runs up to `stepsMax` steps concurrently. */
export function startTaskWorker({
  stepsMax,
  closeTimeoutMs,
  ...dependencies
}: WorkerDependencies & { stepsMax: number; closeTimeoutMs: number }): TaskWorker {
  const queue = watchQueue(dependencies);
  const leases = holdLeases(dependencies, queue.onTrouble);
  const runner = createStepRunner(dependencies, leases, closeTimeoutMs);
  const closing = new AbortController();
  const beginning = new Set<Promise<boolean>>();

  function getRoom(): number {
    return Math.max(0, stepsMax - runner.count());
  }

  function run(tasks: readonly ClaimedTask[]): void {
    // A stopping worker would be cut off in mid-submission, so it leaves new tasks to other workers.
    if (closing.signal.aborted) {
      for (const task of tasks) leases.release(task, dependencies.clock.now());
      return;
    }
    for (const task of tasks) {
      // If there was more room, no task was waiting for it.
      const onFreed = (): void => {
        if (getRoom() === 1) polls.wake();
      };
      // The runner logs failures itself.
      runner.run(task).then(onFreed, onFreed);
    }
  }

  function reportClaims(error: unknown): ClaimedTask[] {
    queue.onTrouble(error);
    return [];
  }

  async function begin(taskIds: readonly string[]): Promise<boolean> {
    const room = getRoom();
    if (room === 0) return false;
    polls.noteOpen();
    run(await leases.claim(taskIds.slice(0, room)).catch(reportClaims));
    return taskIds.length <= room;
  }

  const polls = keepPolling({ leases, queue, getRoom, run, clock: dependencies.clock, signal: closing.signal });
  const waking = keepWaking(dependencies, { isNeeded: polls.hasOpen, onTrouble: queue.onTrouble });
  let ended: Promise<void> | null = null;

  async function end(): Promise<void> {
    closing.abort();
    await waking.close();
    await polls.ended;
    await Promise.all(beginning);
    await runner.close();
    await leases.close();
  }

  function close(): Promise<void> {
    ended ??= end();
    return ended;
  }

  return {
    wake() {
      polls.wake();
      return !closing.signal.aborted && getRoom() > 0;
    },
    async begin(taskIds) {
      if (closing.signal.aborted) return false;
      const begun = begin(taskIds);
      beginning.add(begun);
      return await begun.finally(() => beginning.delete(begun));
    },
    // `close` reports the error.
    stop: () => void close().catch(() => {}),
    close,
  };
}

type PollOptions = {
  leases: HeldLeases;
  queue: ReturnType<typeof watchQueue>;
  getRoom(): number;
  run(tasks: readonly ClaimedTask[]): void;
  clock: Clock;
  signal: AbortSignal;
};

/** Claims due tasks until the signal. */
function keepPolling({ leases, queue, getRoom, run, clock, signal }: PollOptions) {
  let nap = new AbortController();
  let hasOpen = false;

  async function pollUntilClosed(): Promise<void> {
    while (!signal.aborted) {
      // Before the poll: a wake-up meanwhile may be of a task that the query did not see.
      nap = new AbortController();
      const pauseMs = await poll().catch(reportPoll);
      const end = AbortSignal.any([nap.signal, signal]);
      if (pauseMs > 0) await wait(pauseMs, undefined, { signal: end }).catch(() => {});
    }
  }

  /** Returns the pause until the next poll. */
  async function poll(): Promise<number> {
    const room = Math.min(getRoom(), claimedAtOnceMax);
    if (room === 0) return pollEveryMs;
    const dueAt = await leases.findNextDue();
    queue.onRecovery();
    hasOpen = dueAt !== null;
    if (dueAt === null) return idlePollMs;
    const leftMs = dueAt.getTime() - clock.now().getTime();
    if (leftMs > 0) return Math.min(leftMs, pollEveryMs);
    const claimed = await leases.claimDue(room);
    run(claimed);
    // The batch was full, so more tasks may be due.
    return claimed.length === room ? 0 : pollEveryMs;
  }

  function reportPoll(error: unknown): number {
    queue.onTrouble(error);
    return pollEveryMs;
  }

  const ended = pollUntilClosed();
  return {
    ended,
    wake: () => nap.abort(),
    hasOpen: () => hasOpen,
    /** A task was created here: its next steps fall due without a wake-up. */
    noteOpen(): void {
      if (!hasOpen) nap.abort();
      hasOpen = true;
    },
  };
}

/** Logs queue errors; a database outage only at its start and end. */
function watchQueue({ logger, clock }: WorkerDependencies) {
  const outage = createOutageLog({
    ...{ logger, clock },
    begins: "task queue error: the database is unavailable",
    ends: "task queue polling resumed",
  });
  return {
    onTrouble(error: unknown): void {
      if (isDatabaseUnavailable(error)) outage.onTrouble(error);
      else logger.error({ error }, "task queue error");
    },
    onRecovery: outage.onRecovery,
  };
}

/** Runs the steps of claimed tasks and releases their leases. */
function createStepRunner(dependencies: WorkerDependencies, leases: HeldLeases, closeTimeoutMs: number) {
  const { clock, logger } = dependencies;
  const cutOff = new AbortController();
  const running = new Set<Promise<void>>();

  async function runStep(task: ClaimedTask): Promise<void> {
    const { signal, release } = limitStep(task);
    try {
      const dueAt = await advanceTask(dependencies, task, signal);
      if (dueAt === null) leases.drop(task);
      else leases.release(task, dueAt);
    } catch (error) {
      if (!signal.aborted) logger.error({ task_id: task.id, account_id: task.accountId, error }, "task step failed");
      const kind = signal.aborted ? "interrupted" : "broken";
      const { lease } = decideTransition(task, { kind, pauseMs: findPollPause(dependencies, task) }, clock.now());
      leases.release(task, "at" in lease ? lease.at : clock.now());
    } finally {
      release();
    }
  }

  /** Aborts the step when the worker stops and when the task's deadline passes. */
  function limitStep({ deadlineAt }: ClaimedTask): { signal: AbortSignal; release(): void } {
    const leftMs = deadlineAt.getTime() - clock.now().getTime();
    // A task past its deadline only has to be ended.
    if (leftMs <= 0 || leftMs > timerMsMax) return { signal: cutOff.signal, release: () => {} };
    const controller = new AbortController();
    const stop = (): void => controller.abort(cutOff.signal.reason);
    const timer = setTimeout(() => controller.abort(new Error("The task's deadline has passed.")), leftMs);
    cutOff.signal.addEventListener("abort", stop);
    return {
      signal: controller.signal,
      release() {
        clearTimeout(timer);
        cutOff.signal.removeEventListener("abort", stop);
      },
    };
  }

  return {
    count: () => running.size,
    async run(task: ClaimedTask): Promise<void> {
      const step = runStep(task);
      running.add(step);
      await step;
      running.delete(step);
    },
    /** Waits for running steps, and aborts those that take too long. */
    async close(): Promise<void> {
      const ended = new AbortController();
      const late = wait(closeTimeoutMs, undefined, { signal: ended.signal }).catch(() => {});
      await Promise.race([Promise.all(running), late]);
      ended.abort();
      cutOff.abort(new Error("The worker is stopping."));
      await Promise.all(running);
    },
  };
}

/** The longest delay that a timer supports. */
const timerMsMax = 2 ** 31 - 1;
