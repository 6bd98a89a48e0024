import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimDueTasks, wakeWaitingTask } from "../../../src/features/tasks/lease-store.ts";
import { countWaiting } from "../../../src/features/tasks/task-store.ts";
import { makeOutputs, openScriptedTasks, type ScriptedTasks } from "../../harness/tasks/scripted-tasks.ts";

describe("an upstream that accepts one task at a time", () => {
  let world: ScriptedTasks;
  beforeEach(async () => {
    world = await openScriptedTasks({ tasksMax: 1 });
  });
  afterEach(async () => {
    const wrongs = await world.findWrongs();
    await world[Symbol.asyncDispose]();
    expect(wrongs).toEqual([]);
  });

  async function submitMany(count: number) {
    const ids: `task_${string}`[] = [];
    for (let index = 0; index < count; index += 1) ids.push(await world.submit());
    return ids as [`task_${string}`, ...`task_${string}`[]];
  }

  async function finish(id: `task_${string}`): Promise<void> {
    const outputs = await makeOutputs(2);
    world.upstream.poll = async () => ({ kind: "done", outputs });
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "succeeded" });
  }

  test("gets no second one, from any number of workers at once", async () => {
    const ids = await submitMany(6);
    const claimed = await Promise.all(ids.map((id) => world.claim(id)));
    await Promise.all(claimed.map((task) => (task === null ? null : world.advance(task))));
    expect(world.upstream.submitted).toHaveLength(1);
    const tasks = await Promise.all(ids.map((id) => world.read(id)));
    expect(tasks.map(({ phase }) => phase).toSorted()).toEqual([
      "ready",
      "ready",
      "ready",
      "ready",
      "ready",
      "running",
    ]);
    expect(tasks.filter(({ waitsFor }) => waitsFor === "fal")).toHaveLength(5);
  });

  test("has its slot taken even while a submission's outcome is unknown", async () => {
    const [first, second = first] = await submitMany(2);
    world.upstream.submit = async () => {
      throw new Error("The process died.");
    };
    await expect(world.step(first)).rejects.toThrow("died");
    await world.step(second);
    expect(await world.read(second)).toMatchObject({ phase: "ready", waitsFor: "fal" });
    await world.step(first);
    expect(await world.read(first)).toMatchObject({ phase: "unknown" });
    await world.step(second);
    expect(world.upstream.submitted).toEqual([first]);
  });

  test("gets the longest waiting task when it is free, and each task has its queue position until then", async () => {
    const [first, second = first, third = first] = await submitMany(3);
    for (const id of [first, third, second]) await world.step(id);
    const { database, clock } = world.parts;
    const places = async () => Promise.all([second, third].map((id) => countWaiting(database, { id, model: "image" })));
    expect(await places()).toEqual([1, 2]);
    await finish(first);
    const later = new Date(clock.now().getTime() + 60_000);
    await database.updateTable("task_leases").set({ next_poll_at: later }).execute();
    await wakeWaitingTask(database, "fal", clock.now());
    const lease = { now: clock.now(), until: later, limit: 10 };
    const [woken, ...others] = (await claimDueTasks(database, lease)).tasks;
    expect([woken?.id, others]).toEqual([second, []]);
    if (woken !== undefined) await world.advance(woken);
    expect(world.upstream.submitted).toEqual([first, second]);
    expect(await countWaiting(database, { id: third, model: "image" })).toBe(1);
  });

  test("gets no new task while an older one waits", async () => {
    const [first, second = first] = await submitMany(2);
    await world.step(first);
    await world.step(second);
    await finish(first);
    const third = await world.submit();
    await world.step(third);
    expect(world.upstream.submitted).toEqual([first]);
    await world.step(second);
    expect(world.upstream.submitted).toEqual([first, second]);
  });
});
