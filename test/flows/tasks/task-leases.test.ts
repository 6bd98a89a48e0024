import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  claimTasks,
  lockLease,
  releaseLeases,
  renewLeases,
  revokeLease,
} from "../../../src/features/tasks/lease-store.ts";
import type { ClaimedTask } from "../../../src/features/tasks/task.ts";
import { updateClaimedTask } from "../../../src/features/tasks/task-store.ts";
import { openTaskStage, paths, type TaskStage } from "../../harness/tasks/task-stage.ts";

let stage: TaskStage;

/** No worker runs here; the tests act as workers. */
beforeAll(async () => {
  stage = await openTaskStage({ settings: { roles: ["http"] } });
});
afterAll(() => stage[Symbol.asyncDispose]());

const leaseMs = 12_000;

function inMs(milliseconds: number): Date {
  return new Date(Date.now() + milliseconds);
}

async function claimNew(): Promise<ClaimedTask & { until: Date }> {
  const caller = await stage.createCaller();
  const { id } = await caller.submit(paths.image, { model: "image", prompt: "A lighthouse" });
  const until = inMs(leaseMs);
  const [claimed] = (await claimTasks(stage.database, [id], { now: new Date(), until })).tasks;
  if (claimed === undefined) throw new Error("The task could not be claimed.");
  return { ...claimed, until };
}

async function readNext(id: string): Promise<Date | undefined> {
  const query = stage.database.selectFrom("task_leases").select("next_poll_at").where("task_id", "=", id);
  return (await query.executeTakeFirst())?.next_poll_at;
}

describe("the next poll of a task", () => {
  test("stays at the time that the last step wrote, even if its lease was just being renewed", async () => {
    const task = await claimNew();
    const soon = inMs(1000);
    const change = { phase: "running", handle: { job: "1" }, submittedAt: new Date() } as const;
    await updateClaimedTask(stage.database, task, {
      change,
      isVisible: false,
      lease: { kind: "due", at: soon },
      now: new Date(),
    });
    await renewLeases(stage.database, [task], inMs(leaseMs));
    expect(await readNext(task.id)).toEqual(soon);
  });

  test("is now if it was requested while a worker was rescheduling the task", async () => {
    const task = await claimNew();
    await revokeLease(stage.database, task.id, new Date());
    await releaseLeases(stage.database, [{ ...task, dueAt: inMs(10_000) }], new Date());
    expect((await readNext(task.id))?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test("is a lease away while its worker lives", async () => {
    const task = await claimNew();
    const later = inMs(60_000);
    expect(await renewLeases(stage.database, [task], later)).toEqual(new Set([task.id]));
    expect(await readNext(task.id)).toEqual(later);
  });

  test("is not changed by a worker that has lost the task to another", async () => {
    const late = await claimNew();
    await revokeLease(stage.database, late.id, new Date());
    const time = { now: new Date(), until: inMs(leaseMs) };
    const [current] = (await claimTasks(stage.database, [late.id], time)).tasks;
    const before = await readNext(late.id);
    await releaseLeases(stage.database, [{ ...late, dueAt: inMs(1) }], new Date());
    expect(await renewLeases(stage.database, [late], inMs(60_000))).toEqual(new Set());
    const change = { phase: "running", handle: { job: "1" }, submittedAt: new Date() } as const;
    const written = { change, isVisible: false, lease: { kind: "due", at: inMs(1) }, now: new Date() } as const;
    expect(await updateClaimedTask(stage.database, late, written)).toBeNull();
    expect(await readNext(late.id)).toEqual(before);
    expect(current?.fencingToken).toBeGreaterThan(late.fencingToken);
  });
});

test("a row that is invalid for its phase is reported as an error, and does not keep other tasks from being claimed", async () => {
  const [broken, other] = [await claimNew(), await claimNew()];
  await stage.database.updateTable("tasks").set({ phase: "running" }).where("id", "=", broken.id).execute();
  const time = { now: inMs(leaseMs + 1000), until: inMs(3 * leaseMs) };
  const { tasks, unreadable } = await claimTasks(stage.database, [broken.id, other.id], time);
  expect(tasks.map(({ id }) => id)).toEqual([other.id]);
  expect(unreadable.map(String)).toEqual([expect.stringContaining(`${broken.id} (image) cannot be running`)]);
  await stage.database.updateTable("tasks").set({ phase: "ready" }).where("id", "=", broken.id).execute();
});

test("a claim skips tasks that another transaction has locked", async () => {
  const [locked, other] = [await claimNew(), await claimNew()];
  await stage.database.transaction().execute(async (tx) => {
    expect(await lockLease(tx, locked)).toBe(true);
    const time = { now: inMs(2 * leaseMs), until: inMs(3 * leaseMs) };
    const { tasks } = await claimTasks(stage.database, [locked.id, other.id], time);
    expect(tasks.map(({ id }) => id)).toEqual([other.id]);
  });
});
