import { expect, test } from "vitest";
import type { ChangeFeed } from "../../../platform/database/change-feed.ts";
import { createWakeUps } from "./wake-workers.ts";

type Listener = Parameters<ChangeFeed["subscribe"]>[1];

/** Wake-ups of a process whose worker has the given room, and the calls that reach it and the other nodes. */
function open({ room, hasWorker = true }: { room: number; hasWorker?: boolean }) {
  const calls: string[] = [];
  const listeners: Listener[] = [];
  const subscribe: ChangeFeed["subscribe"] = (channel, listener) => {
    expect(channel).toBe("tasks_due");
    listeners.push(listener);
  };
  const feed: ChangeFeed = { isLive: () => true, liveForMs: () => 0, subscribe, close: async () => {} };
  const notify = async (): Promise<void> => void calls.push("others");
  const wakeUps = createWakeUps({ feed, notify, onTrouble: () => {} });
  if (hasWorker) {
    wakeUps.attach({
      wake: () => {
        calls.push("own");
        return room > 0;
      },
      begin: async (taskIds) => {
        calls.push(`own ${taskIds.join(" ")}`);
        return taskIds.length <= room;
      },
    });
  }
  return { wakeUps, calls, listeners };
}

test("new tasks start on this process's own worker while it has room, then on other nodes", async () => {
  const { wakeUps, calls } = open({ room: 1 });
  wakeUps.begin(["task_1"]);
  await wakeUps.drain();
  expect(calls).toEqual(["own task_1"]);
  wakeUps.begin(["task_2", "task_3"]);
  await wakeUps.drain();
  expect(calls).toEqual(["own task_1", "own task_2 task_3", "others"]);
});

test("a node without workers wakes other nodes, once for concurrent wake-ups", async () => {
  const { wakeUps, calls } = open({ room: 0, hasWorker: false });
  for (const id of ["task_1", "task_2", "task_3"]) wakeUps.begin([id]);
  wakeUps.wake();
  await wakeUps.drain();
  expect(calls).toEqual(["others"]);
  wakeUps.wake();
  await wakeUps.drain();
  expect(calls).toEqual(["others", "others"]);
});

test("a due task wakes one worker: another node's if this one is full", async () => {
  const free = open({ room: 1 });
  free.wakeUps.wake();
  const full = open({ room: 0 });
  full.wakeUps.wake();
  await full.wakeUps.drain();
  expect([free.calls, full.calls]).toEqual([["own"], ["own", "others"]]);
});

test("a notification from another node, or a reset of the feed, wakes this process's worker", () => {
  const { calls, listeners } = open({ room: 1 });
  for (const listener of listeners) {
    listener.onChange("");
    listener.onReset();
  }
  expect(calls).toEqual(["own", "own"]);
});
