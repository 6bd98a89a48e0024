import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseUnavailable } from "../../platform/database/database.ts";
import type { JobQueue } from "../../platform/jobs/job-queue.ts";
import { advanceTask } from "./advance-task.ts";
import type { Direct } from "./direct-task.ts";
import type { ClaimedTask } from "./task.ts";
import { leaseMs, type TaskParts } from "./task-parts.ts";
import { claimDueTasks, claimTasks, type Lease, renewTurns, returnTurns, type Turn } from "./turn-store.ts";

/** Takes tasks further, as long as there are any. */
export type TaskWorker = {
  /** Looks for due tasks at once. */
  wake(): void;
  start(): Promise<void>;
  /** Lets steps that are under way end; those that take too long are given to others. */
  close(): Promise<void>;
};

export type WorkerParts = Omit<TaskParts, "wake"> & {
  direct: Direct;
  queue: JobQueue;
  stepsMax: number;
  closeTimeoutMs: number;
};

const renewMs = 3_000;
const lookEveryMs = 500;
const claimedAtOnceMax = 200;
/** A step that failed for a reason of ours is tried again after this. */
const troubleMs = 5_000;
const returnAfterMs = 20;
/** No step takes as long as this, and no timer can wait for longer. */
const timerMsMax = 2 ** 31 - 1;

type InHand = { task: ClaimedTask; until: Date; ended: Promise<void> };

export function createTaskWorker(parts: WorkerParts): TaskWorker {
  const { database, clock, logger, queue, stepsMax } = parts;
  const inHand = new Map<string, InHand>();
  const returned: (Turn & { nextPollAt: Date })[] = [];
  const closing = new AbortController();
  const steps = new AbortController();
  let nap = new AbortController();
  let looking: Promise<void> | null = null;
  let returning: Promise<void> = Promise.resolve();
  let returnTimer: NodeJS.Timeout | null = null;
  let renewal: Promise<void> = Promise.resolve();
  let handling: Promise<unknown> = Promise.resolve();
  const taskParts = { ...parts, wake };

  function wake(): void {
    nap.abort();
  }

  function getLease(): Lease {
    const now = clock.now();
    return { now, until: new Date(now.getTime() + leaseMs) };
  }

  function take(tasks: readonly ClaimedTask[], until: Date): void {
    for (const task of tasks) {
      const ended = runStep(task).finally(() => {
        if (inHand.get(task.id)?.task === task) inHand.delete(task.id);
        if (inHand.size < stepsMax) wake();
      });
      inHand.set(task.id, { task, until, ended });
    }
  }

  async function runStep(task: ClaimedTask): Promise<void> {
    const { signal, release } = limitStep(task);
    try {
      const nextPollAt = await advanceTask(taskParts, task, signal);
      if (nextPollAt !== null) giveBack(task, nextPollAt);
    } catch (error) {
      if (!signal.aborted) logger.error({ task: task.id, error }, "a step of a task failed");
      const delayMs = signal.aborted ? 0 : troubleMs;
      giveBack(task, new Date(clock.now().getTime() + delayMs));
    } finally {
      release();
    }
  }

  /** A step ends when the worker does, and when the task's time is over. */
  function limitStep({ deadlineAt }: ClaimedTask): { signal: AbortSignal; release(): void } {
    const leftMs = deadlineAt.getTime() - clock.now().getTime();
    // One that is late already is only ended.
    if (leftMs <= 0 || leftMs > timerMsMax) return { signal: steps.signal, release: () => {} };
    const controller = new AbortController();
    const stop = (): void => controller.abort(steps.signal.reason);
    const timer = setTimeout(() => controller.abort(new Error("The task's time is over.")), leftMs);
    steps.signal.addEventListener("abort", stop);
    return {
      signal: controller.signal,
      release() {
        clearTimeout(timer);
        steps.signal.removeEventListener("abort", stop);
      },
    };
  }

  /** Together, because most looks at a task change nothing but the time of the next one. */
  function giveBack({ id, claim }: ClaimedTask, nextPollAt: Date): void {
    returned.push({ id, claim, nextPollAt });
    returnTimer ??= setTimeout(() => {
      returnTimer = null;
      returning = returning.then(returnAll);
    }, returnAfterMs);
  }

  async function returnAll(): Promise<void> {
    if (returned.length === 0) return;
    const turns = returned.splice(0);
    try {
      await returnTurns(database, turns);
    } catch (error) {
      // Their leases run out, and somebody looks at them then.
      logger.warn({ error, tasks: turns.length }, "tasks could not be given back");
    }
  }

  async function look(): Promise<void> {
    while (!closing.signal.aborted) {
      const room = Math.min(stepsMax - inHand.size, claimedAtOnceMax);
      let count = 0;
      try {
        const lease = getLease();
        const claimed = room > 0 ? await claimDueTasks(database, { ...lease, limit: room }) : [];
        count = claimed.length;
        take(claimed, lease.until);
      } catch (error) {
        reportTrouble(error);
      }
      if (count > 0 && count === room) {
        // There is more; what was polled meanwhile is given back first.
        await Promise.resolve();
        continue;
      }
      nap = new AbortController();
      await wait(lookEveryMs, undefined, { signal: AbortSignal.any([nap.signal, closing.signal]) }).catch(() => {});
    }
  }

  /** Jobs may still come while the worker closes, which waits for them. */
  function handleJobs(jobs: readonly Record<string, unknown>[]): Promise<void> {
    const handled = takeJobs(jobs);
    handling = Promise.allSettled([handling, handled]);
    return handled;
  }

  async function takeJobs(jobs: readonly Record<string, unknown>[]): Promise<void> {
    const ids = jobs.flatMap(({ taskIds }) => (Array.isArray(taskIds) ? taskIds : [])) as string[];
    // What is too much now is found by looking, a little later.
    const room = Math.max(0, stepsMax - inHand.size);
    if (closing.signal.aborted || room === 0) return;
    const lease = getLease();
    const claimed = await claimTasks(database, ids.slice(0, room), lease);
    // What would be cut off in the middle of being handed over is left to others, who begin it.
    if (closing.signal.aborted) for (const task of claimed) giveBack(task, clock.now());
    else take(claimed, lease.until);
  }

  function reportTrouble(error: unknown): void {
    if (isDatabaseUnavailable(error)) logger.warn({ error }, "tasks wait for the database");
    else logger.error({ error }, "due tasks could not be found");
  }

  async function renewAll(): Promise<void> {
    const kept = [...inHand.values()];
    if (kept.length === 0) return;
    const { until } = getLease();
    const turns = kept.map(({ task, until: before }) => ({ id: task.id, claim: task.claim, until: before }));
    const renewed = await renewTurns(database, turns, until);
    for (const one of kept) if (renewed.has(one.task.id)) one.until = until;
  }

  const renewing = setInterval(() => {
    renewal = renewal.then(renewAll).catch(reportTrouble);
  }, renewMs);

  return {
    wake,
    async start() {
      looking = look();
      await queue.work(handleJobs);
    },
    async close() {
      closing.abort();
      wake();
      await looking;
      await handling;
      const ended = Promise.all([...inHand.values()].map((one) => one.ended));
      const late = new AbortController();
      await Promise.race([ended, wait(parts.closeTimeoutMs, undefined, { signal: late.signal }).catch(() => {})]);
      late.abort();
      steps.abort(new Error("The worker stops."));
      await Promise.allSettled([...inHand.values()].map((one) => one.ended));
      clearInterval(renewing);
      clearTimeout(returnTimer ?? undefined);
      await renewal;
      await returning;
      await returnAll();
    },
  };
}
