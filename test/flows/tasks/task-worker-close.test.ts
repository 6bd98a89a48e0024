import { afterEach, beforeEach, expect, test } from "vitest";
import { startTaskWorker } from "../../../src/features/tasks/work/task-worker.ts";
import { openScriptedTasks, type ScriptedTasks } from "../../harness/tasks/scripted-tasks.ts";

let world: ScriptedTasks;
beforeEach(async () => {
  world = await openScriptedTasks({});
});
afterEach(async () => {
  const wrongs = await world.findWrongs();
  await world[Symbol.asyncDispose]();
  expect(wrongs).toEqual([]);
});

function startWorker() {
  return startTaskWorker({ ...world.parts, stepsMax: 10, closeTimeoutMs: 10_000 });
}

async function readLease(id: string) {
  const query = world.parts.database.selectFrom("task_leases").select(["next_poll_at", "fencing_token"]);
  return await query.where("task_id", "=", id).executeTakeFirstOrThrow();
}

test("a task that arrives while its worker closes is not started there, and is free for others at once", async () => {
  const id = await world.submit();
  // It falls due after the worker's last poll.
  const soon = new Date(world.clock.now().getTime() + 1000);
  await world.parts.database.updateTable("task_leases").set({ next_poll_at: soon }).execute();
  const worker = startWorker();
  world.clock.advance(1000);
  const begun = worker.begin([id]);
  await worker.close();
  await begun;
  expect(world.upstream.submitted).toEqual([]);
  expect((await world.read(id)).phase).toBe("ready");
  const { next_poll_at: dueAt, fencing_token: token } = await readLease(id);
  // The worker's last poll may have claimed it, too.
  expect(token).toBeGreaterThan(0);
  expect(dueAt.getTime()).toBeLessThanOrEqual(world.clock.now().getTime());
});

test("a task that arrived before its worker closes is started, and the worker waits for that", async () => {
  const worker = startWorker();
  const id = await world.submit();
  await worker.begin([id]);
  await worker.close();
  expect(world.upstream.submitted).toEqual([id]);
  expect((await world.read(id)).phase).toBe("running");
});
