import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChangeFeed } from "../../../platform/database/change-feed.ts";
import { createTaskWatch, type TaskWatch } from "./watch-tasks.ts";

type Listener = Parameters<ChangeFeed["subscribe"]>[1];

let listener: Listener;
let watch: TaskWatch;
const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const subscribe = (_channel: string, given: Listener): void => {
    listener = given;
  };
  const feed = { subscribe, close: async () => {} } as unknown as ChangeFeed;
  watch = createTaskWatch({ feed, notify: async () => {}, onTrouble: () => {} });
});
afterEach(() => {
  // No finished wait leaves a listener behind.
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** Starts waiting, and reports whether the wait has ended. */
function start(taskId: string, version: number, { timeoutMs = 1000, signal = never } = {}) {
  const state = { isOver: false };
  const ended = watch.waitForChange(taskId, version, { timeoutMs, signal }).then(() => {
    state.isOver = true;
  });
  return { state, ended };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

test("a waiter wakes on a newer version of its own task only", async () => {
  const { state, ended } = start("task_a", 2);
  listener.onChange("task_b 9");
  listener.onChange("task_a 2");
  await settle();
  expect(state.isOver).toBe(false);
  listener.onChange("task_a 3");
  await ended;
});

test("a change just before the wait is not missed", async () => {
  listener.onChange("task_a 3");
  await start("task_a", 2).ended;
  const { state, ended } = start("task_a", 3);
  await settle();
  expect(state.isOver).toBe(false);
  listener.onChange("task_a 4");
  await ended;
});

test("waiters in this process wake before the database notifies other nodes", async () => {
  const { ended } = start("task_a", 1);
  watch.announce({ id: "task_a", version: 2 });
  await ended;
  await watch.drain();
});

test("a reset of the change feed wakes all waiters", async () => {
  const [one, two] = [start("task_a", 1), start("task_b", 1)];
  listener.onReset();
  await Promise.all([one.ended, two.ended]);
});

test("a wait ends at its time-out, or after two seconds at the latest", async () => {
  const [short, long] = [start("task_a", 1, { timeoutMs: 100 }), start("task_a", 1, { timeoutMs: 60_000 })];
  vi.advanceTimersByTime(100);
  await short.ended;
  expect(long.state.isOver).toBe(false);
  vi.advanceTimersByTime(1_900);
  await long.ended;
});

test("a disconnected caller stops waiting", async () => {
  const gone = new AbortController();
  const { ended } = start("task_a", 1, { signal: gone.signal });
  gone.abort();
  await ended;
  await start("task_a", 1, { signal: gone.signal }).ended;
});
