import { sql } from "kysely";
import { expect, test } from "vitest";
import { forgetOldTasks, retryTask } from "../../../src/features/tasks/index.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { openDramaFront } from "../../harness/dramas/drama-callers.ts";
import { openTaskStage, type TaskStage } from "../../harness/tasks/task-stage.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const dayMs = 24 * 60 * 60 * 1000;
const later = (days: number) => ({ now: () => new Date(Date.now() + days * dayMs), monotonicMs: () => 0 });

type Retention = { taskDays: number; promptDays: number; afterDays: number };

/** Runs the hourly job as of this many days from now. */
async function forget({ database }: Pick<TaskStage, "database">, { afterDays, ...retention }: Retention) {
  const signal = new AbortController().signal;
  await forgetOldTasks({ ...retention, database, clock: later(afterDays), signal });
}

test("the requests of old tasks are erased, and everything else stays, final as before", async () => {
  await using stage = await openTaskStage();
  const caller = await stage.createCaller();
  const { id } = await caller.submitImage("image", "A secret lighthouse");
  const before = await caller.awaitTask(id);
  await forget(stage, { taskDays: 0, promptDays: 30, afterDays: 29 });
  expect(await caller.readTask(id)).toMatchObject({ prompt: "A secret lighthouse" });

  await forget(stage, { taskDays: 0, promptDays: 30, afterDays: 31 });
  const { prompt_erased_at: erasedAt, ...after } = (await caller.readTask(id)) as typeof before & {
    prompt_erased_at?: string;
  };
  expect(Date.parse(erasedAt ?? "")).toBeGreaterThan(Date.now());
  const withoutLinks = (task: object) => JSON.parse(JSON.stringify(task).replaceAll(/"url":"[^"]*"/g, '"url":""'));
  const { prompt: _, ...expected } = withoutLinks({ prompt: "", ...before });
  expect(withoutLinks(after)).toEqual(expected);
  const stored = await sql<{ text: string }>`select tasks::text as text from tasks where id = ${id}`.execute(
    stage.database,
  );
  expect(stored.rows[0]?.text).not.toContain("secret");
  const request = await caller.get(`/tasks/${id}/request`);
  expect([request.status, await request.json()]).toMatchObject([
    404,
    { error: { code: "task_not_found", message: "This task's request has been erased." } },
  ]);
  const dependencies = { ...stage.gateway.parts, database: stage.database, currency: "CNY" };
  await expect(retryTask(dependencies, id)).rejects.toThrow(`The request of ${id} has been erased.`);

  // Nothing else of a finished task can be changed, not even in the same statement.
  const { id: whole } = await caller.submitImage("image", "Another lighthouse");
  await caller.awaitTask(whole);
  for (const change of [
    sql`charge = charge + 1, prompt_erased_at = now()`,
    sql`prompt_erased_at = null`,
    sql`request = '{}'`,
  ]) {
    await expect(sql`update tasks set ${change} where id in (${id}, ${whole})`.execute(stage.database)).rejects.toThrow(
      "cannot become",
    );
  }
});

test("the model's version of a prompt is erased with it", async () => {
  await using stage = await openTaskStage();
  const caller = await stage.createCaller();
  const { id } = await caller.submitImage("prompt-image", "A secret lighthouse");
  expect(await caller.awaitTask(id)).toMatchObject({ data: [{ revised_prompt: "Revised: A secret lighthouse" }] });
  await forget(stage, { taskDays: 0, promptDays: 30, afterDays: 31 });
  const { data, output } = (await caller.readTask(id)) as { data?: object[]; output: object[] };
  expect([data, output]).toEqual([[{ url: expect.any(String) }], [expect.objectContaining({ type: "image" })]]);
  const stored = await sql<{ text: string }>`select tasks::text as text from tasks where id = ${id}`.execute(
    stage.database,
  );
  expect(stored.rows[0]?.text).not.toContain("secret");
});

test("tasks are dropped with their month when it is old, not while one is open, and charges stay", async () => {
  const stage = await openTaskStage({ settings: { task_days: 30 } });
  const caller = await stage.createCaller();
  const { id } = await caller.submitImage("image", "A lighthouse");
  await caller.awaitTask(id);
  const [charge] = await caller.listCharges();
  const [hold] = await caller.listHolds();
  const balance = await caller.readBalance();
  // A task without a worker stays open.
  await sql`insert into task_leases (task_id, next_poll_at, fencing_token, polls) values (${id}, 'infinity', 0, 0)`.execute(
    stage.database,
  );
  await forget(stage, { taskDays: 30, promptDays: 0, afterDays: 400 });
  // It is over, so it is deleted as a row; its month stays.
  const listMonths = async () =>
    (
      await sql<{ name: string }>`select inhrelid::regclass::text as name from pg_inherits
      where inhparent = 'tasks'::regclass order by 1`.execute(stage.database)
    ).rows.map(({ name }) => name);
  const months = await listMonths();
  await sql`delete from task_leases where task_id = ${id}`.execute(stage.database);
  await forget(stage, { taskDays: 30, promptDays: 0, afterDays: 400 });
  expect((await listMonths()).length).toBeLessThan(months.length);

  const gone = await caller.get(`/tasks/${id}`);
  expect([gone.status, await gone.json()]).toMatchObject([404, { error: { message: "There is no such task." } }]);
  const ids = createIdSource({ clock: later(-31), randomBytes: (count) => new Uint8Array(count) });
  const old = await caller.get(`/tasks/${ids.next("task")}`);
  expect([old.status, await old.json()]).toMatchObject([
    404,
    { error: { code: "task_not_found", message: "There is no such task. Tasks are deleted after 30 days." } },
  ]);
  expect(await caller.listCharges()).toEqual([charge]);
  expect(await caller.readBalance()).toEqual(balance);
  for (const path of ["/charges", "/ledger", "/usage", "/tasks", "/events", "/holds"]) {
    expect([path, (await caller.get(path)).status]).toEqual([path, 200]);
  }
  // All checks pass, except that the task of the hold no longer exists.
  await expect(stage[Symbol.asyncDispose]()).rejects.toThrow(
    `Something is wrong: ${JSON.stringify([`a hold for a task has one, but not ${hold?.id}`], null, 2)}`,
  );
});

test("an order whose task is gone is not run and charged a second time; an open one stays", async () => {
  await using front = await openDramaFront({ settings: { roles: ["http"] } });
  const caller = await front.createCaller();
  const order = { client_business_id: "order-1" };
  const { id } = await caller.order(order, { "idempotency-key": "key-1" });
  await caller.cancel(id);
  await waitUntil("its end", async () => (await front.listLeases()).length === 0);
  const open = await caller.order({ client_business_id: "order-2" });
  await forget(front, { taskDays: 30, promptDays: 30, afterDays: 400 });
  expect(await caller.readTask(open.id)).toMatchObject({ status: "queued", prompt: "The Lighthouse" });
  expect((await caller.get(`/tasks/${id}`)).status).toBe(404);
  for (const [headers, param] of [
    [{}, "client_business_id"],
    [{ "idempotency-key": "key-1" }, "Idempotency-Key"],
  ] as const) {
    const again = await caller.ask(order, headers);
    expect([again.status, await again.json()]).toMatchObject([
      422,
      {
        error: {
          code: "idempotency_key_reused",
          param,
          message: expect.stringContaining(`${id}, which has been deleted`),
        },
      },
    ]);
  }
});
