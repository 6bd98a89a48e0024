import { createCoalescer } from "../../../lib/coalescer.ts";
import type { ChangeFeed } from "../../../platform/database/change-feed.ts";

type TaskVersion = { id: string; version: number };

/** Wakes requests that wait for a task, on this node and others. */
export type TaskWatch = {
  /** Announces a committed change. */
  announce(changed: TaskVersion): void;
  /** Resolves when every announcement has been sent. */
  drain(): Promise<void>;
  /**
   * Resolves when the task may have changed since `version`, or on time-out or abort. Wake-ups can be spurious: read the
   * task again.
   */
  waitForChange(taskId: string, version: number, until: { timeoutMs: number; signal: AbortSignal }): Promise<void>;
  /** Wakes all waiters, and makes later waits return at once. */
  release(): void;
  isReleased(): boolean;
};

/** Fallback for a lost notification. */
const recheckMs = 2_000;

/** How many recent changes are cached, so that a change just before a wait is not missed. */
const rememberedMax = 10_000;

type WatchDependencies = {
  feed: ChangeFeed;
  /** Notifies every node. */
  notify(changes: readonly TaskVersion[]): Promise<void>;
  onTrouble(error: unknown): void;
};

type Waiter = { version: number; wake(): void };

export function createTaskWatch({ feed, notify, onTrouble }: WatchDependencies): TaskWatch {
  // NOTIFY follows the commit, several changes in one statement. A transaction that notifies blocks all other notifying
  // transactions until it is on disk. If the process dies in between, waiters fall back to `recheckMs`.
  const notifier = createCoalescer<TaskVersion, void>({
    async run(changes) {
      await notify(changes);
      return [];
    },
    batchMax: Number.POSITIVE_INFINITY,
    waitingMax: Number.POSITIVE_INFINITY,
    onTrouble,
  });
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

  function wakeWaiters({ id, version }: TaskVersion): void {
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
      wakeWaiters({ id, version: Number(version) });
    },
    onReset: wakeAll,
  });

  return {
    announce(changed) {
      wakeWaiters(changed);
      notifier.tell({ id: changed.id, version: changed.version });
    },
    drain: notifier.drain,
    async waitForChange(taskId, version, { timeoutMs, signal }) {
      if (signal.aborted || isReleased || timeoutMs <= 0 || (latest.get(taskId) ?? 0) > version) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter: Waiter = { version, wake: resolve };
      const ofTask = waiters.get(taskId) ?? new Set();
      waiters.set(taskId, ofTask.add(waiter));
      const timer = setTimeout(resolve, Math.min(timeoutMs, recheckMs));
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
