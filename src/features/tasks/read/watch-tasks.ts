import { createCoalescer } from "../../../lib/coalescer.ts";
import type { ChangeFeed } from "../../../platform/database/change-feed.ts";

type TaskVersion = { id: string; version: number };

/** Wakes those who wait for a task, here and on other nodes. */
export type TaskWatch = {
  /** Tells of a change that is committed. */
  announce(changed: TaskVersion): void;
  /** Ends when everything that was announced is told. */
  drain(): Promise<void>;
  /**
   * Waits until the task may have changed since its version, or until the time is over or the signal says so. May also
   * end for no reason: whoever waits looks for themselves.
   */
  waitForChange(taskId: string, version: number, until: { timeoutMs: number; signal: AbortSignal }): Promise<void>;
  /** Wakes all who wait, and lets nobody wait from then on. */
  release(): void;
  isReleased(): boolean;
};

/** Should a notification be lost, whoever waits looks again after this. */
const lookAgainMs = 2_000;

/** How many tasks' latest changes are remembered, for those who are just about to wait. */
const rememberedMax = 10_000;

type WatchDependencies = {
  feed: ChangeFeed;
  /** Tells every node. */
  tell(changes: readonly TaskVersion[]): Promise<void>;
  onTrouble(error: unknown): void;
};

type Waiter = { version: number; wake(): void };

export function createTaskWatch({ feed, tell, onTrouble }: WatchDependencies): TaskWatch {
  const teller = createTeller(tell, onTrouble);
  const waiters = new Map<string, Set<Waiter>>();
  const latest = new Map<string, number>();

  function remember(taskId: string, version: number): void {
    latest.delete(taskId);
    latest.set(taskId, version);
    if (latest.size <= rememberedMax) return;
    for (const oldest of latest.keys()) {
      latest.delete(oldest);
      return;
    }
  }

  function hear({ id, version }: TaskVersion): void {
    remember(id, version);
    for (const waiter of waiters.get(id) ?? []) {
      if (version > waiter.version) waiter.wake();
    }
  }

  function wakeAll(): void {
    for (const waiter of [...waiters.values()].flatMap((set) => [...set])) waiter.wake();
  }

  let isReleased = false;
  feed.subscribe("tasks", {
    onChange(payload) {
      const [id = "", version = ""] = payload.split(" ");
      hear({ id, version: Number(version) });
    },
    onReset: wakeAll,
  });

  return {
    announce(changed) {
      hear(changed);
      teller.tell({ id: changed.id, version: changed.version });
    },
    drain: teller.drain,
    async waitForChange(taskId, version, { timeoutMs, signal }) {
      if (signal.aborted || isReleased || timeoutMs <= 0 || (latest.get(taskId) ?? 0) > version) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter: Waiter = { version, wake: resolve };
      const ofTask = waiters.get(taskId) ?? new Set();
      waiters.set(taskId, ofTask.add(waiter));
      const timer = setTimeout(resolve, Math.min(timeoutMs, lookAgainMs));
      signal.addEventListener("abort", waiter.wake);
      await promise;
      signal.removeEventListener("abort", waiter.wake);
      clearTimeout(timer);
      ofTask.delete(waiter);
      if (ofTask.size === 0) waiters.delete(taskId);
    },
    release() {
      isReleased = true;
      wakeAll();
    },
    isReleased: () => isReleased,
  };
}

/**
 * Tells of changes after the commits that they are about, several in one statement. Not in the transactions themselves: one
 * that notifies makes every other one that does wait until it is on disk. Should a process die in between, those who wait
 * look for themselves.
 */
function createTeller(tell: WatchDependencies["tell"], onTrouble: WatchDependencies["onTrouble"]) {
  return createCoalescer<TaskVersion, void>({
    async run(changes) {
      await tell(changes);
      return [];
    },
    batchMax: Number.POSITIVE_INFINITY,
    waitingMax: Number.POSITIVE_INFINITY,
    onTrouble,
  });
}
