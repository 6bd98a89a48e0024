import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName } from "../../harness/chat/chat-catalog.ts";
import { writeTaskPrice } from "../../harness/tasks/task-catalog.ts";
import {
  openTaskStage,
  paths,
  readProblem,
  readTask,
  type TaskStage,
  writePictures,
  writeStageCatalog,
} from "../../harness/tasks/task-stage.ts";
import type { FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let stage: TaskStage;

/** The providers of `narrow` and `narrow-prompt` accept one task at a time. */
function writeCatalog(upstream: FakeUpstreams): string {
  const narrow = { id: "narrow", kind: "fal", base_url: upstream.falUrl, api_keys: [`\${${upstreamKeyName}}`] };
  const open = { ...narrow, id: "narrow-open", kind: "openai-compatible", base_url: upstream.openAiUrl };
  return writeStageCatalog(upstream, {
    providers: [narrow, open].map((provider) => ({ ...provider, tasks_max: 1 })),
    models: [
      writePictures("narrow", ["narrow"]),
      writePictures("narrow-prompt", ["narrow-open"]),
      writePictures("album", ["sandbox"], { limits: { sizes: ["1536x1024"], max_n: 10 } }),
    ],
    prices: ["narrow", "narrow-prompt", "album"].map((model) => writeTaskPrice(model, "image", "0.02")),
  });
}

beforeAll(async () => {
  stage = await openTaskStage({ catalog: writeCatalog });
});
afterEach(async () => {
  expect(stage.media.scriptsLeft()).toBe(0);
  await stage.check();
});
afterAll(() => stage[Symbol.asyncDispose]());

const image = { model: "image", prompt: "A lighthouse" };
const hourMs = 60 * 60 * 1000;

function findJob(prompt: string) {
  const job = stage.media.jobs.find(({ submission }) => submission.prompt === prompt);
  if (job === undefined) throw new Error(`There is no work with the prompt ${prompt}.`);
  return job;
}

async function running(id: string): Promise<void> {
  await waitUntil(`the upstream to have ${id}`, async () => {
    const row = await stage.database.selectFrom("tasks").select("phase").where("id", "=", id).executeTakeFirst();
    return row?.phase === "running";
  });
}

/** Moves a task's deadline; the next worker that claims it sees the new one. */
async function endIn(id: string, milliseconds: number): Promise<void> {
  await sql`update tasks set deadline_at = now() + ${`${milliseconds} milliseconds`}::interval
    where id = ${id}`.execute(stage.database);
}

describe("a cancellation", () => {
  test("of a task that has not started ends it at once, at no charge, and it is never submitted", async () => {
    const caller = await stage.createCaller();
    const first = await caller.submit(paths.image, { model: "narrow", prompt: "In the way <<fault:queue=99999>>" });
    await running(first.id);
    const { id } = await caller.submit(paths.image, { model: "narrow", prompt: "Never begun" });
    const response = await caller.cancel(id);
    const task = await readTask(response);
    expect([response.status, task.status, task.usage.charge, task.progress]).toEqual([200, "canceled", "0.00", 0]);
    expect(response.headers.get("retry-after")).toBeNull();
    const [, hold] = await caller.listHolds();
    expect(hold).toMatchObject({ state: "released" });
    expect(await caller.listEvents()).toMatchObject([{ type: "task.canceled", data: { task_id: id } }]);
    expect(stage.media.submissionsOf("Never begun")).toEqual([]);
  });

  test("that the upstream confirms ends the task at no charge, and a second one changes nothing", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ queue: 99_999, cancel: "gone" });
    const { id } = await caller.submit(paths.image, { ...image, prompt: "Confirmed" });
    await running(id);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => caller.cancel(id)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const task = await caller.awaitTask(id);
    expect(task).toMatchObject({ status: "canceled", usage: { charge: "0.00", total_units: 0 }, output: [] });
    const before = await caller.get(`/tasks/${id}`);
    const again = await caller.cancel(id);
    expect([again.status, (await readTask(again)).status]).toEqual([200, "canceled"]);
    expect(again.headers.get("etag")).toBe(before.headers.get("etag"));
    expect(findJob("Confirmed").cancelCount).toBe(1);
    expect(await caller.listEvents()).toMatchObject([{ type: "task.canceled" }]);
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
  });

  test.each(["completed", "requested"] as const)(
    "that comes too late (%s) leaves a task that succeeds, and is charged",
    async (cancel) => {
      const caller = await stage.createCaller();
      const start = createGate();
      stage.media.script({ beforeStart: start, cancel });
      const { id } = await caller.submit(paths.image, { ...image, prompt: `Too late: ${cancel}` });
      await running(id);
      const asked = caller.cancel(id);
      await waitUntil("the upstream to be asked", () => findJob(`Too late: ${cancel}`).cancelCount === 1);
      start.open();
      expect((await asked).status).toBe(200);
      expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded", usage: { charge: "0.04" } });
      const final = await caller.cancel(id);
      expect([final.status, (await readTask(final)).status]).toEqual([200, "succeeded"]);
      expect(await caller.listEvents()).toMatchObject([{ type: "task.succeeded" }]);
    },
  );

  test("that the upstream confirms later by forgetting the task cancels it", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ queue: 99_999, cancel: "requested" });
    const { id } = await caller.submit(paths.image, { ...image, prompt: "Forgotten" });
    await running(id);
    await caller.cancel(id);
    findJob("Forgotten").isGone = true;
    expect((await caller.awaitTask(id)).status).toBe("canceled");
  });

  test("of a task that its model cannot stop is refused with 409, and the task goes on", async () => {
    const caller = await stage.createCaller();
    const finish = createGate();
    stage.media.script({ beforeFinish: finish });
    const { id } = await caller.submit(paths.image, { ...image, prompt: "Unstoppable" });
    await caller.awaitTask(id, ["processing"]);
    const refused = await caller.cancel(id);
    expect(await readProblem(refused)).toMatchObject({ status: 409, code: "task_not_cancelable" });
    finish.open();
    expect((await caller.awaitTask(id)).status).toBe("succeeded");
    expect(findJob("Unstoppable").cancelCount).toBe(0);
  });

  test("of a task at a synchronous upstream is refused with 409", async () => {
    const caller = await stage.createCaller();
    const head = createGate();
    stage.media.script({ beforeHead: head });
    const { id } = await caller.submit(paths.image, { model: "prompt-image", prompt: "At once" });
    await head.reached();
    expect(await readProblem(await caller.cancel(id))).toMatchObject({ code: "task_not_cancelable" });
    head.open();
    expect((await caller.awaitTask(id)).status).toBe("succeeded");
  });

  test("during submission is stored, and stops the task once the upstream has it", async () => {
    const caller = await stage.createCaller();
    const head = createGate();
    stage.media.script({ beforeHead: head, queue: 99_999, cancel: "gone" });
    const { id } = await caller.submit(paths.image, { ...image, prompt: "In between" });
    await head.reached();
    const asked = caller.cancel(id);
    await waitUntil("the wish to be written", async () => {
      const query = stage.database.selectFrom("tasks").select("cancel_requested_at").where("id", "=", id);
      return (await query.executeTakeFirst())?.cancel_requested_at !== null;
    });
    head.open();
    expect((await asked).status).toBe(200);
    expect((await caller.awaitTask(id)).status).toBe("canceled");
    expect(findJob("In between").cancelCount).toBe(1);
  });

  test("of a task with an unknown submission outcome ends it, at no charge", async () => {
    const caller = await stage.createCaller();
    const { id } = await caller.submit(paths.image, { model: "image", prompt: "Unknown <<fault:reset>>" });
    await waitUntil("an unknown outcome", async () => {
      const row = await stage.database.selectFrom("tasks").select("phase").where("id", "=", id).executeTakeFirst();
      return row?.phase === "unknown";
    });
    expect((await readTask(await caller.cancel(id))).status).toBe("canceled");
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
  });

  test("midway charges the finished outputs, which stay readable", async () => {
    const caller = await stage.createCaller();
    // Large, so that there is time to cancel before the last of them.
    const { id } = await caller.submit(paths.image, { model: "album", prompt: "Ten of them", n: 10 });
    await waitUntil("the first image", async () => (await caller.readTask(id)).progress > 10);
    await caller.cancel(id);
    const task = await caller.awaitTask(id);
    expect(task.status).toBe("canceled");
    expect(task.output.length).toBeGreaterThan(0);
    expect(task.usage).toMatchObject({
      total_units: task.output.length,
      charge: (task.output.length * 0.02).toFixed(2),
    });
    const path = task.output[0]?.url.replace(/^http:\/\/[^/]+/, "");
    expect((await stage.fetch(`${stage.gateway.siteUrl}${path}`)).status).toBe(200);
  });
});

describe("a deadline", () => {
  test("ends a task, at no charge, and cancels it at the upstream", async () => {
    const caller = await stage.createCaller();
    const body = { ...image, prompt: "Short <<fault:queue=99999>>", expires_after: 60 };
    const { id } = await caller.submit(paths.image, body);
    await running(id);
    const { created, expires_at: expiresAt } = await caller.readTask(id);
    expect(Math.floor(Date.parse(expiresAt ?? "") / 1000) - created).toBe(60);
    await endIn(id, 0);
    const task = await caller.awaitTask(id);
    expect(task).toMatchObject({ status: "expired", usage: { charge: "0.00" }, output: [] });
    expect(findJob(body.prompt).cancelCount).toBe(1);
    expect(await caller.listEvents()).toMatchObject([{ type: "task.expired", data: { task_id: id } }]);
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
  });

  test("retries the cancel at a failing upstream, so that the job does not go on unpaid", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ queue: 99_999, cancelFailures: 1 });
    const { id } = await caller.submit(paths.image, { ...image, prompt: "Asked twice" });
    await running(id);
    await stage.age(id, hourMs);
    await waitUntil("the upstream to be asked", () => findJob("Asked twice").cancelCount === 1);
    await stage.age(id);
    expect(await caller.awaitTask(id)).toMatchObject({ status: "expired", usage: { charge: "0.00" } });
    expect(findJob("Asked twice").cancelCount).toBe(2);
  });

  test("that has passed is final: a later success changes nothing", async () => {
    const caller = await stage.createCaller();
    const finish = createGate();
    stage.media.script({ beforeFinish: finish });
    const { id } = await caller.submit(paths.image, { ...image, prompt: "Late" });
    await caller.awaitTask(id, ["processing"]);
    await stage.age(id, hourMs);
    const expired = await caller.awaitTask(id);
    finish.open();
    expect(await caller.finish(paths.image, image)).toMatchObject({ status: "succeeded" });
    expect(await caller.readTask(id)).toEqual(expired);
    expect((await caller.listEvents()).map(({ type }) => type)).toEqual(["task.expired", "task.succeeded"]);
    expect((await readTask(await caller.cancel(id))).status).toBe("expired");
  });

  test("applies to a task that waits for a slot, too", async () => {
    const caller = await stage.createCaller();
    const { id } = await caller.submit(paths.image, { model: "narrow", prompt: "Waits" });
    await stage.age(id, hourMs);
    expect(await caller.awaitTask(id)).toMatchObject({ status: "expired", usage: { charge: "0.00" } });
    expect(stage.media.submissionsOf("Waits")).toEqual([]);
  });

  test("ends a task at a synchronous upstream", async () => {
    const caller = await stage.createCaller();
    const [first, head] = [createGate(), createGate()];
    stage.media.script({ beforeHead: first });
    await caller.submit(paths.image, { model: "narrow-prompt", prompt: "In the way" });
    await first.reached();
    const { id } = await caller.submit(paths.image, { model: "narrow-prompt", prompt: "Slow" });
    stage.media.script({ beforeHead: head });
    // While it waits, so that the worker that submits it has its new deadline.
    await endIn(id, 5_000);
    first.open();
    await head.reached();
    const task = await caller.awaitTask(id, ["expired"]);
    head.open();
    expect(task).toMatchObject({ status: "expired", usage: { charge: "0.00" } });
    expect(await caller.readTask(id)).toEqual(task);
    expect(stage.media.submissionsOf("Slow")).toMatchObject([{ call: { outcome: "aborted" } }]);
  });
});
