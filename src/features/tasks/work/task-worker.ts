import { setTimeout as wait } from "node:timers/promises";
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

const pollEveryMs = 500;
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
  let nap = new AbortController();

  function getRoom(): number {
    return Math.max(0, stepsMax - runner.count());
  }

  function run(tasks: readonly ClaimedTask[]): void {
    for (const task of tasks) {
      // If there was more room, no task was waiting for it.
      const onFreed = (): void => {
        if (getRoom() === 1) nap.abort();
      };
      // The runner logs failures itself.
      runner.run(task).then(onFreed, onFreed);
    }
  }

  async function pollQueue(): Promise<void> {
    while (!closing.signal.aborted) {
      nap = new AbortController();
      const room = Math.min(getRoom(), claimedAtOnceMax);
      const claimed = room === 0 ? [] : await leases.claimDue(room).then(queue.noteClaims, reportClaims);
      run(claimed);
      // The batch was full, so more tasks may be due.
      if (claimed.length > 0 && claimed.length === room) continue;
      await wait(pollEveryMs, undefined, { signal: AbortSignal.any([nap.signal, closing.signal]) }).catch(() => {});
    }
  }

  function reportClaims(error: unknown): ClaimedTask[] {
    queue.onTrouble(error);
    return [];
  }

  async function begin(taskIds: readonly string[]): Promise<boolean> {
    const room = getRoom();
    if (room === 0) return false;
    const claimed = await leases.claim(taskIds.slice(0, room)).catch(reportClaims);
    // A stopping worker would be cut off in mid-submission, so it leaves new tasks to other workers.
    if (closing.signal.aborted) for (const task of claimed) leases.release(task, dependencies.clock.now());
    else run(claimed);
    return taskIds.length <= room;
  }

  const waking = keepWaking(dependencies, queue.onTrouble);
  const polling = pollQueue();
  let ended: Promise<void> | null = null;

  async function end(): Promise<void> {
    closing.abort();
    await waking.close();
    await polling;
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
      nap.abort();
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
    noteClaims(claimed: ClaimedTask[]): ClaimedTask[] {
      outage.onRecovery();
      return claimed;
    },
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
