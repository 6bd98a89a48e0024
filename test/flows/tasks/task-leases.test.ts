import { sql } from "kysely";
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

/** Nobody works here but the tests. */
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
    await releaseLeases(stage.database, [{ ...task, dueAt: inMs(10_000) }]);
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
    const time = { now: new Date(), until: inMs(leaseMs) };
    const [current] = (await claimTasks(stage.database, [late.id], time)).tasks;
    const before = await readNext(late.id);
    await releaseLeases(stage.database, [{ ...late, dueAt: inMs(1) }]);
    expect(await renewLeases(stage.database, [late], inMs(60_000))).toEqual(new Set());
    const change = { phase: "running", handle: { job: "1" }, submittedAt: new Date() } as const;
    const written = { change, isVisible: false, lease: { kind: "due", at: inMs(1) }, now: new Date() } as const;
    expect(await updateClaimedTask(stage.database, late, written)).toBeNull();
    expect(await readNext(late.id)).toEqual(before);
    expect(current?.fencingToken).toBeGreaterThan(late.fencingToken);
  });
});

test("a row that its phase cannot have is an error of its own, and keeps no other task from being claimed", async () => {
  const [broken, other] = [await claimNew(), await claimNew()];
  await stage.database.updateTable("tasks").set({ phase: "running" }).where("id", "=", broken.id).execute();
  const time = { now: inMs(leaseMs + 1000), until: inMs(3 * leaseMs) };
  const { tasks, unreadable } = await claimTasks(stage.database, [broken.id, other.id], time);
  expect(tasks.map(({ id }) => id)).toEqual([other.id]);
  expect(unreadable.map(String)).toEqual([expect.stringContaining(`${broken.id} (image) cannot be running`)]);
  await stage.database.updateTable("tasks").set({ phase: "ready" }).where("id", "=", broken.id).execute();
});

/** The statements of the version before, which knows leases as `task_turns` and fencing tokens as `claim`. */
describe("a gateway of the version before this one", () => {
  test("claims, renews, writes, returns and ends tasks that this version wrote", async () => {
    const task = await claimNew();
    await releaseLeases(stage.database, [{ ...task, dueAt: inMs(-1000) }]);
    const [until, later] = [inMs(leaseMs), inMs(2 * leaseMs)];
    const claimed = await sql<{ id: string; claim: number }>`
      with due as materialized (
          select task_id from task_turns where task_id = any(${[task.id]}) and next_poll_at <= ${new Date()}
            order by next_poll_at limit 5 for update skip locked
        ),
        claimed as (
          update task_turns set next_poll_at = ${until}, claim = claim + 1, polls = polls + 1
            from due where task_turns.task_id = due.task_id
            returning task_turns.task_id, task_turns.claim
        )
      select tasks.*, claimed.claim from claimed join tasks on tasks.id = claimed.task_id`.execute(stage.database);
    expect(claimed.rows).toMatchObject([{ id: task.id, claim: task.fencingToken + 1 }]);
    const [claim] = claimed.rows.map((row) => row.claim);
    expect(await renewLeases(stage.database, [task], later)).toEqual(new Set());

    const renewed = await sql`
      update task_turns set next_poll_at = ${later}
        from unnest(${[task.id]}::text[], ${[claim]}::int[], ${[until]}::timestamptz[]) as held (id, claim, until)
        where task_turns.task_id = held.id and task_turns.claim = held.claim and task_turns.next_poll_at = held.until
        returning task_turns.task_id`.execute(stage.database);
    expect(renewed.rows).toEqual([{ task_id: task.id }]);
    expect(await readNext(task.id)).toEqual(later);

    const written = await sql`
      with lease as (
        update task_turns set next_poll_at = next_poll_at, claim = claim + 1
          where task_id = ${task.id} and claim = ${claim} returning task_id
      )
      update tasks set version = version + 1 from lease where tasks.id = lease.task_id
        returning tasks.id`.execute(stage.database);
    expect(written.rows).toEqual([{ id: task.id }]);
    await sql`
      update task_turns set next_poll_at = given.due_at
        from unnest(${[task.id]}::text[], ${[Number(claim) + 1]}::int[], ${[until]}::timestamptz[]) as given (id, claim, due_at)
        where task_turns.task_id = given.id and task_turns.claim = given.claim`.execute(stage.database);
    expect(await readNext(task.id)).toEqual(until);

    const ended = await sql`delete from task_turns where task_id = ${task.id} returning claim`.execute(stage.database);
    expect(ended.rows).toEqual([{ claim: Number(claim) + 1 }]);
    expect(await readNext(task.id)).toBeUndefined();
    await sql`
      insert into task_turns (task_id, next_poll_at, claim, polls)
        select id, ${until}, 0, 0 from unnest(${[task.id]}::text[]) as new (id)
        on conflict (task_id) do nothing`.execute(stage.database);
    const claimedLater = await claimTasks(stage.database, [task.id], { now: inMs(leaseMs + 1000), until: later });
    expect(claimedLater.tasks).toMatchObject([{ id: task.id, fencingToken: 1 }]);
  });

  test("neither waits for what this version has locked, nor claims it", async () => {
    const [mine, other] = [await claimNew(), await claimNew()];
    const ids = [mine.id, other.id];
    await stage.database.transaction().execute(async (tx) => {
      expect(await lockLease(tx, mine)).toBe(true);
      const free = await sql`
        select task_id from task_turns where task_id = any(${ids}) for update skip locked`.execute(stage.database);
      expect(free.rows).toEqual([{ task_id: other.id }]);
    });
    await stage.database.transaction().execute(async (tx) => {
      await sql`select claim from task_turns where task_id = ${mine.id} for update`.execute(tx);
      const time = { now: inMs(2 * leaseMs), until: inMs(3 * leaseMs) };
      expect((await claimTasks(stage.database, ids, time)).tasks).toMatchObject([{ id: other.id }]);
    });
  });
});
