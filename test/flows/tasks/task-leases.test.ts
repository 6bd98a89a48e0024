import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClaimedTask } from "../../../src/features/tasks/task.ts";
import { updateClaimedTask } from "../../../src/features/tasks/task-store.ts";
import { claimTasks, renewLeases, returnLeases, revokeLease } from "../../../src/features/tasks/work/lease-store.ts";
import { openTaskStage, paths, type TaskStage } from "../../harness/tasks/task-stage.ts";

let stage: TaskStage;

/** Nobody works here but the tests. */
beforeAll(async () => {
  stage = await openTaskStage({ settings: { workers: "off" } });
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
  const [claimed] = await claimTasks(stage.database, [id], { now: new Date(), until });
  if (claimed === undefined) throw new Error("The task could not be claimed.");
  return { ...claimed, until };
}

async function readNext(id: string): Promise<Date | undefined> {
  const query = stage.database.selectFrom("task_turns").select("next_poll_at").where("task_id", "=", id);
  return (await query.executeTakeFirst())?.next_poll_at;
}

describe("when a task is looked at next", () => {
  test("stays what the last step wrote, though its lease was just being renewed", async () => {
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

  test("is now, when somebody asked for that while a worker was giving it back for later", async () => {
    const task = await claimNew();
    await revokeLease(stage.database, task.id, new Date());
    await returnLeases(stage.database, [{ ...task, dueAt: inMs(10_000) }]);
    expect((await readNext(task.id))?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test("is a lease away as long as the worker that has it lives", async () => {
    const task = await claimNew();
    const later = inMs(60_000);
    expect(await renewLeases(stage.database, [task], later)).toEqual(new Set([task.id]));
    expect(await readNext(task.id)).toEqual(later);
  });

  test("is not changed by a worker that has lost the task to another", async () => {
    const late = await claimNew();
    await revokeLease(stage.database, late.id, new Date());
    const [current] = await claimTasks(stage.database, [late.id], { now: new Date(), until: inMs(leaseMs) });
    const before = await readNext(late.id);
    await returnLeases(stage.database, [{ ...late, dueAt: inMs(1) }]);
    expect(await renewLeases(stage.database, [late], inMs(60_000))).toEqual(new Set());
    const change = { phase: "running" } as const;
    const written = { change, isVisible: false, lease: { kind: "due", at: inMs(1) }, now: new Date() } as const;
    expect(await updateClaimedTask(stage.database, late, written)).toBeNull();
    expect(await readNext(late.id)).toEqual(before);
    expect(current?.fencingToken).toBeGreaterThan(late.fencingToken);
  });
});
