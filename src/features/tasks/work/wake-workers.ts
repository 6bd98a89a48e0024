import { createSingleFlight } from "../../../lib/coalescer.ts";
import type { ChangeFeed } from "../../../platform/database/change-feed.ts";
import type { TaskWorker } from "./task-worker.ts";

type WakeableWorker = Pick<TaskWorker, "wake" | "begin">;

/** Wakes a worker when tasks are due: this process's own, or other nodes' if it is full. */
export type WakeUps = {
  /** Registers this process's worker, which is woken first. */
  attach(worker: WakeableWorker): void;
  /** A task is due. */
  wake(): void;
  /** New tasks are due. */
  begin(taskIds: readonly string[]): void;
  /** Resolves when every wake-up is sent. */
  drain(): Promise<void>;
};

type WakeUpDependencies = {
  feed: ChangeFeed;
  /** Notifies every node that tasks are due. */
  notify(): Promise<void>;
  onTrouble(error: unknown): void;
};

/** A lost wake-up costs at most two seconds: the table is the queue, and workers poll it. */
export function createWakeUps({ feed, notify, onTrouble }: WakeUpDependencies): WakeUps {
  let worker: WakeableWorker | null = null;
  const others = createSingleFlight(notify, onTrouble);
  const beginning = new Set<Promise<void>>();

  async function beginHere(to: WakeableWorker, taskIds: readonly string[]): Promise<void> {
    if (!(await to.begin(taskIds))) others.tell();
  }

  const wakeOwn = (): void => void worker?.wake();
  feed.subscribe("tasks_due", { onChange: wakeOwn, onReset: wakeOwn });

  return {
    attach(own) {
      worker = own;
    },
    wake() {
      if (worker?.wake() !== true) others.tell();
    },
    begin(taskIds) {
      if (worker === null) return others.tell();
      const begun = beginHere(worker, taskIds);
      beginning.add(begun);
      const onBegun = (): unknown => beginning.delete(begun);
      begun.then(onBegun, onBegun);
    },
    async drain() {
      await Promise.all(beginning);
      await others.drain();
    },
  };
}
