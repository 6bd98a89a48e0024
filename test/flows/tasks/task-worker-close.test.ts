import { afterEach, beforeEach, expect, test } from "vitest";
import { startTaskWorker } from "../../../src/features/tasks/work/task-worker.ts";
import type { Clock } from "../../../src/lib/clock.ts";
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

function startWorker(clock: Clock = world.clock) {
  return startTaskWorker({ ...world.parts, clock, stepsMax: 10, closeTimeoutMs: 10_000 });
}

/** Resolves when the worker first asks for the time: its poll does, once it knows when the next task is due. */
function watchClock() {
  const asked = Promise.withResolvers<void>();
  const clock: Clock = {
    ...world.clock,
    now() {
      asked.resolve();
      return world.clock.now();
    },
  };
  return { clock, asked: asked.promise };
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
  const { clock, asked } = watchClock();
  const worker = startWorker(clock);
  await asked;
  world.clock.advance(1000);
  const begun = worker.begin([id]);
  await worker.close();
  await begun;
  expect(world.upstream.submitted).toEqual([]);
  expect((await world.read(id)).phase).toBe("ready");
  const { next_poll_at: dueAt, fencing_token: token } = await readLease(id);
  expect(token).toBe(1);
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
