import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseUnavailable } from "../../../platform/database/database.ts";
import { createOutageLog } from "../../../platform/observability/outage-log.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import type { ClaimedTask } from "../task.ts";
import { type AdvanceDependencies, advanceTask } from "./advance-task.ts";
import { type HeldLeases, holdLeases } from "./hold-leases.ts";

/** Takes tasks further, as long as there are any. */
export type TaskWorker = {
  /** Looks for due tasks at once. `false` when it has no room for any. */
  wake(): boolean;
  /** Claims these tasks at once. `false` when it has not room for all. */
  begin(taskIds: readonly string[]): Promise<boolean>;
  /** Claims nothing more. Lets steps that are under way end; those that take too long are given to others. */
  stop(): void;
  /** Stops, and ends when the last step has. */
  close(): Promise<void>;
};

export type WorkerDependencies = AdvanceDependencies & {
  /** How many steps it takes at a time. */
  stepsMax: number;
  closeTimeoutMs: number;
};

const lookEveryMs = 500;
const claimedAtOnceMax = 200;

/** Starts to work. */
export function startTaskWorker(dependencies: WorkerDependencies): TaskWorker {
  const { stepsMax } = dependencies;
  const queue = watchQueue(dependencies);
  const leases = holdLeases({ ...dependencies, onTrouble: queue.onTrouble });
  const runner = createStepRunner(dependencies, leases);
  const closing = new AbortController();
  const beginning = new Set<Promise<boolean>>();
  let nap = new AbortController();

  function getRoom(): number {
    return Math.max(0, stepsMax - runner.count());
  }

  function run(tasks: readonly ClaimedTask[]): void {
    for (const task of tasks) {
      // Where there was room before, nothing waited for it.
      const onFreed = (): void => {
        if (getRoom() === 1) nap.abort();
      };
      // The runner reports failures itself.
      runner.run(task).then(onFreed, onFreed);
    }
  }

  async function look(): Promise<void> {
    while (!closing.signal.aborted) {
      nap = new AbortController();
      const room = Math.min(getRoom(), claimedAtOnceMax);
      const claimed = room === 0 ? [] : await leases.claimDue(room).then(queue.noteLook, reportClaims);
      run(claimed);
      // As many as there was room for: there may be more.
      if (claimed.length > 0 && claimed.length === room) continue;
      await wait(lookEveryMs, undefined, { signal: AbortSignal.any([nap.signal, closing.signal]) }).catch(() => {});
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
    // What would be cut off in the middle of being handed over is left to others, who begin it.
    if (closing.signal.aborted) for (const task of claimed) leases.giveBack(task, dependencies.clock.now());
    else run(claimed);
    return taskIds.length <= room;
  }

  const looking = look();
  let ended: Promise<void> | null = null;

  async function end(): Promise<void> {
    closing.abort();
    await looking;
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
    // Whoever closes it is told of what goes wrong.
    stop: () => void close().catch(() => {}),
    close,
  };
}

/** Tells of the queue's troubles; that the database is away only when it begins and when it is over. */
function watchQueue({ logger, clock }: Pick<WorkerDependencies, "logger" | "clock">) {
  const outage = createOutageLog({
    ...{ logger, clock },
    begins: "task queue error: the database is unavailable",
    ends: "the task queue is looked at again",
  });
  return {
    onTrouble(error: unknown): void {
      if (isDatabaseUnavailable(error)) outage.onTrouble(error);
      else logger.error({ error }, "task queue error");
    },
    noteLook(claimed: ClaimedTask[]): ClaimedTask[] {
      outage.onRecovery();
      return claimed;
    },
  };
}

/** Runs the steps of claimed tasks, and gives back their leases. */
function createStepRunner(dependencies: WorkerDependencies, leases: HeldLeases) {
  const { clock, logger, closeTimeoutMs } = dependencies;
  const cutOff = new AbortController();
  const running = new Set<Promise<void>>();

  async function runStep(task: ClaimedTask): Promise<void> {
    const { signal, release } = limitStep(task);
    try {
      const dueAt = await advanceTask(dependencies, task, signal);
      if (dueAt === null) leases.drop(task);
      else leases.giveBack(task, dueAt);
    } catch (error) {
      if (!signal.aborted)
        logger.error({ task_id: task.id, account_id: task.accountId, error }, "a step of a task failed");
      const kind = signal.aborted ? "interrupted" : "broken";
      const { lease } = decideTransition(task, { kind }, clock.now());
      leases.giveBack(task, "at" in lease ? lease.at : clock.now());
    } finally {
      release();
    }
  }

  /** A step ends when the worker does, and when the task's time is over. */
  function limitStep({ deadlineAt }: ClaimedTask): { signal: AbortSignal; release(): void } {
    const leftMs = deadlineAt.getTime() - clock.now().getTime();
    // One that is late already is only ended.
    if (leftMs <= 0 || leftMs > timerMsMax) return { signal: cutOff.signal, release: () => {} };
    const controller = new AbortController();
    const stop = (): void => controller.abort(cutOff.signal.reason);
    const timer = setTimeout(() => controller.abort(new Error("The task's time is over.")), leftMs);
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
    /** Waits for the steps that are under way; those that take too long are cut off. */
    async close(): Promise<void> {
      const ended = new AbortController();
      const late = wait(closeTimeoutMs, undefined, { signal: ended.signal }).catch(() => {});
      await Promise.race([Promise.all(running), late]);
      ended.abort();
      cutOff.abort(new Error("The worker stops."));
      await Promise.all(running);
    },
  };
}

/** No step takes as long as this, and no timer can wait for longer. */
const timerMsMax = 2 ** 31 - 1;
