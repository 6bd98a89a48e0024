import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimDueTasks, releaseLeases, wakeWaitingTasks } from "../../../src/features/tasks/lease-store.ts";
import { countProviderTasks } from "../../../src/features/tasks/task-limit-store.ts";
import { countWaiting } from "../../../src/features/tasks/task-store.ts";
import { wakeWaiting } from "../../../src/features/tasks/work/wake-waiting.ts";
import type { TaskId } from "../../../src/lib/ids.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import { createUpstreamHealth } from "../../../src/providers/upstream-health.ts";
import { makeOutputs, openScriptedTasks, type ScriptedTasks } from "../../harness/tasks/scripted-tasks.ts";

describe("an upstream that accepts one task at a time", () => {
  let world: ScriptedTasks;
  beforeEach(async () => {
    world = await openScriptedTasks({ tasks_max: 1 });
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
    expect(await countProviderTasks(world.parts.database)).toEqual([{ providerId: "fal", atWork: 1, waiting: 5 }]);
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
    await wakeWaitingTasks(database, "fal", { count: 1, now: clock.now() });
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

/** Runs every task that is due once, as a worker does after waking the waiting ones. */
async function runDue(world: ScriptedTasks): Promise<void> {
  await wakeWaiting(world.parts);
  const now = world.clock.now();
  const until = new Date(now.getTime() + 12_000);
  for (const task of (await claimDueTasks(world.parts.database, { now, until, limit: 100 })).tasks) {
    const dueAt = await world.advance(task);
    if (dueAt !== null) await releaseLeases(world.parts.database, [{ ...task, dueAt }], now);
  }
}

const listSubmitted = async ({ upstream, read }: ScriptedTasks) =>
  await Promise.all(upstream.submitted.map((id) => read(id as TaskId)));

test("accounts take turns at a full upstream, however many tasks one of them has submitted before", async () => {
  await using world = await openScriptedTasks({ tasks_max: 2 });
  const outputs = await makeOutputs(2);
  for (let index = 0; index < 8; index += 1) await world.submit();
  await runDue(world);
  for (let index = 0; index < 2; index += 1) await world.submit({ account: "second" });
  await runDue(world);
  expect(world.upstream.submitted).toHaveLength(2);
  for (let turn = 0; turn < 2; turn += 1) {
    world.upstream.poll = async () => ({ kind: "done", outputs });
    const oldest = (await listSubmitted(world)).find(({ phase }) => phase === "running");
    await world.step(oldest?.id ?? "task_none");
    await runDue(world);
  }
  const accounts = (await listSubmitted(world)).map(({ accountId }) => (accountId === world.accountId ? 1 : 2));
  expect(accounts).toEqual([1, 1, 2, 1]);
  expect(await world.findWrongs()).toEqual([]);
});

test("a rate limit spreads the starts over time, and no minute has more than it allows", {
  tags: "extended",
}, async () => {
  await using world = await openScriptedTasks({ tasks_per_minute: 6 });
  const startedAt = world.clock.now().getTime();
  const starts: number[] = [];
  for (let index = 0; index < 10; index += 1) await world.submit();
  for (let second = 0; second < 100; second += 1) {
    const before = world.upstream.submitted.length;
    await runDue(world);
    const now = world.clock.now().getTime() - startedAt;
    for (let number = before; number < world.upstream.submitted.length; number += 1) starts.push(now);
    world.clock.advance(1_000);
  }
  expect(starts).toHaveLength(10);
  for (const start of starts) {
    expect(starts.filter((other) => other >= start && other < start + 60_000).length).toBeLessThanOrEqual(6);
  }
  const waiting = (await world.parts.database.selectFrom("task_leases").select("polls").execute()).map(
    ({ polls }) => polls,
  );
  // A waiting task is not claimed every second.
  expect(Math.max(...waiting)).toBeLessThan(40);
});

test("each key has a limit of its own if the vendor counts by key, and a task goes to the key with room", async () => {
  const key = "${SCRIPTED_KEY}";
  await using world = await openScriptedTasks({ tasks_max: 1, task_limits_per: "key", api_keys: [key, key, key] });
  for (let index = 0; index < 5; index += 1) await world.submit();
  await runDue(world);
  await runDue(world);
  const tasks = await listSubmitted(world);
  expect(tasks.map(({ target }) => target?.keyNumber).toSorted()).toEqual([0, 1, 2]);
});

test("no gateway submits again before the vendor's Retry-After", async () => {
  await using world = await openScriptedTasks();
  const accept = world.upstream.submit;
  world.upstream.submit = async () => {
    throw new ProviderError("rate-limited", "Slow down.", { retryAfterMs: 90_000 });
  };
  const id = await world.submit();
  await world.step(id);
  // Refused by both routes, which the other gateways do not know from their own circuits.
  await world.step(id);
  const asked = world.upstream.submitted.length;
  world.parts.health = createUpstreamHealth({ clock: world.clock });
  world.upstream.submit = accept;
  world.clock.advance(60_000);
  await world.step(id);
  expect(world.upstream.submitted).toHaveLength(asked);
  expect(await world.read(id)).toMatchObject({ phase: "ready" });
  world.clock.advance(31_000);
  await world.step(id);
  expect(await world.read(id)).toMatchObject({ phase: "running" });
});
