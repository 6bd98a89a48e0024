import { afterEach, beforeEach, expect, test } from "vitest";
import { createTaskWorker } from "../../src/features/tasks/task-worker.ts";
import type { JobQueue } from "../../src/platform/jobs/job-queue.ts";
import { openScriptedTasks, type ScriptedTasks } from "../harness/scripted-tasks.ts";

let world: ScriptedTasks;
beforeEach(async () => {
  world = await openScriptedTasks({});
});
afterEach(async () => {
  const wrongs = await world.findWrongs();
  await world[Symbol.asyncDispose]();
  expect(wrongs).toEqual([]);
});

type HandleJobs = Parameters<JobQueue["work"]>[0];

/** A worker, and what its queue hands jobs to. */
async function startWorker() {
  const handlers: HandleJobs[] = [];
  const queue: JobQueue = {
    open: async () => {},
    send: async () => {},
    work: async (handle) => void handlers.push(handle),
    close: async () => {},
  };
  const worker = createTaskWorker({
    ...world.parts,
    direct: async () => null,
    queue,
    stepsMax: 10,
    closeTimeoutMs: 10_000,
  });
  await worker.start();
  const [handleJobs] = handlers;
  if (handleJobs === undefined) throw new Error("The worker takes no jobs.");
  return { worker, handleJobs };
}

async function readTurn(id: string) {
  const query = world.parts.database.selectFrom("task_turns").select(["next_poll_at", "claim"]);
  return await query.where("task_id", "=", id).executeTakeFirstOrThrow();
}

test("a task that arrives while its worker closes is not begun there, and is free for others at once", async () => {
  const { worker, handleJobs } = await startWorker();
  const id = await world.submit();
  const handled = handleJobs([{ taskIds: [id] }]);
  await worker.close();
  await handled;
  expect(world.upstream.submitted).toEqual([]);
  expect((await world.read(id)).phase).toBe("ready");
  const { next_poll_at: nextPollAt, claim } = await readTurn(id);
  expect(claim).toBe(1);
  expect(nextPollAt.getTime()).toBeLessThanOrEqual(world.clock.now().getTime());
});

test("a task that arrived before its worker closes is begun, and the worker waits for that", async () => {
  const { worker, handleJobs } = await startWorker();
  const id = await world.submit();
  await handleJobs([{ taskIds: [id] }]);
  await worker.close();
  expect(world.upstream.submitted).toEqual([id]);
  expect((await world.read(id)).phase).toBe("running");
});
