import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Settings } from "../../../src/platform/config/load-settings.ts";
import { writeTaskCatalog } from "../../harness/tasks/task-catalog.ts";
import { openTaskGateway, type TaskGateway } from "../../harness/tasks/task-gateway.ts";
import type { TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const patienceMs = 50_000;

/** The first gateway runs no worker, so each test decides which one works. */
let place: TaskGateway;
let workers: TestGateway[];
beforeEach(async () => {
  workers = [];
  place = await openTaskGateway({ settings: { roles: ["http"] } });
});
afterEach(async () => {
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

async function startWorker(settings: Partial<Settings> = {}): Promise<TestGateway> {
  const worker = await place.startAnother({ roles: ["http", "worker"], shutdown_timeout_ms: 2_000, ...settings });
  workers.push(worker);
  return worker;
}

async function stopWorker(worker: TestGateway): Promise<void> {
  workers.splice(workers.indexOf(worker), 1);
  await worker[Symbol.asyncDispose]();
}

async function countOpen(): Promise<number> {
  return (await place.listLeases()).length;
}

async function readPhase(id: string): Promise<string | undefined> {
  const query = place.database.selectFrom("tasks").select("phase").where("id", "=", id);
  return (await query.executeTakeFirst())?.phase;
}

/** Ends a worker's lease early. */
async function endLease(id: string): Promise<void> {
  await sql`update task_leases set next_poll_at = now() where task_id = ${id}`.execute(place.database);
}

async function expire(id: string): Promise<void> {
  await sql`update tasks set deadline_at = now() where id = ${id}`.execute(place.database);
  await endLease(id);
}

test("a worker-only gateway finishes tasks, and serves nothing but health probes", async () => {
  const worker = await startWorker({ roles: ["worker"] });
  const caller = await place.createCaller();
  await caller.submitImage("image", "A boat");
  await waitUntil("the task to end", async () => (await countOpen()) === 0, patienceMs);
  const read = async (path: string): Promise<number> => (await fetch(`http://localhost:${worker.port}${path}`)).status;
  expect(await Promise.all(["/healthz", "/readyz", "/v1/models", "/", "/docs"].map(read))).toEqual([
    200, 200, 404, 404, 404,
  ]);
});

test("two workers do 200 tasks, each submitted once", { tags: "extended" }, async () => {
  await Promise.all([startWorker(), startWorker()]);
  const callers = await Promise.all(Array.from({ length: 5 }, () => place.createCaller()));
  const asked = callers.flatMap((caller, number) =>
    Array.from({ length: 40 }, (_, index) => ({ caller, prompt: `Picture ${number}-${index}` })),
  );
  const startedAt = performance.now();
  const tasks = await Promise.all(
    asked.map(async ({ caller, prompt }, index) => {
      // By whichever gateway: all accept.
      const gateway = [place.gateway, ...workers][index % 3] ?? place.gateway;
      return await caller.submitImage(index % 4 === 0 ? "prompt-image" : "image", prompt, { gateway });
    }),
  );
  await waitUntil("every task to end", async () => (await countOpen()) === 0, patienceMs);
  console.log(`two workers: 200 tasks in ${Math.round(performance.now() - startedAt)} ms`);
  const { rows } = await sql`
    select state, error, count(*)::int as count from tasks group by state, error`.execute(place.database);
  expect(rows).toEqual([{ state: "succeeded", error: null, count: 200 }]);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(200);
  expect(asked.filter(({ prompt }) => place.media.submissionsOf(prompt).length !== 1)).toEqual([]);
  expect(place.media.refusals()).toEqual([]);
  for (const caller of callers) {
    expect(await caller.readBalance()).toEqual({ available: "8.30", frozen: "0.00" });
  }
});

test("a gateway without workers accepts, and another one works", async () => {
  const caller = await place.createCaller();
  const task = await caller.submitImage("image", "Later");
  expect(await caller.readTask(task.id)).toMatchObject({ status: "queued", queue_position: 1 });
  expect(await place.listLeases()).toMatchObject([{ task_id: task.id, fencing_token: 0 }]);
  await startWorker();
  expect(await caller.awaitTask(task.id)).toMatchObject({ status: "succeeded" });
});

test("a suspended worker loses its task, and its later writes change nothing", async () => {
  const gate = place.upstream.gate();
  place.media.always({ beforeHead: gate });
  const [stalled, other] = [await startWorker(), await startWorker()];
  expect(stalled.port).not.toBe(other.port);
  const caller = await place.createCaller();
  const { id } = await caller.submitImage("image", "Stalled");
  await gate.reached();
  await endLease(id);
  await waitUntil("another to take it", async () => (await readPhase(id)) === "unknown");
  const before = await place.database.selectFrom("tasks").selectAll().where("id", "=", id).execute();
  gate.open();
  await waitUntil("the late answer", () => place.media.calls.every(({ outcome }) => outcome !== "open"));
  await Promise.all(workers.splice(0).map((worker) => worker[Symbol.asyncDispose]()));
  expect(await place.database.selectFrom("tasks").selectAll().where("id", "=", id).execute()).toEqual(before);
  expect(place.media.submissionsOf("Stalled")).toHaveLength(1);
  await expire(id);
  await startWorker();
  expect(await caller.awaitTask(id)).toMatchObject({ status: "expired", usage: { charge: "0.00" } });
});

test("a live worker keeps its task, however long a step takes", async () => {
  const gate = place.upstream.gate();
  place.media.always({ beforeHead: gate });
  await startWorker();
  const caller = await place.createCaller();
  const { id } = await caller.submitImage("image", "Slow");
  await gate.reached();
  const [first] = await place.listLeases();
  const renewed = await waitUntil("its lease to be renewed", async () => {
    const [lease] = await place.listLeases();
    return lease !== undefined && lease.next_poll_at > (first?.next_poll_at ?? lease.next_poll_at) && lease;
  });
  expect(renewed.fencing_token).toBe(first?.fencing_token);
  gate.open();
  expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
});

describe("a worker that is closed during a step", () => {
  test("returns its task at once, and another one ends it", async () => {
    place.media.always({ output: "silent" });
    const first = await startWorker({ shutdown_timeout_ms: 100 });
    const caller = await place.createCaller();
    const { id } = await caller.submitImage("image", "Interrupted");
    const isFetching = () => place.media.calls.some(({ path, outcome }) => /-files/.test(path) && outcome === "open");
    await waitUntil("the image to be fetched", isFetching);
    for (const { behaviour } of place.media.jobs) delete behaviour.output;
    await stopWorker(first);
    const [lease] = await place.listLeases();
    expect(lease).toMatchObject({ task_id: id });
    // Its upstream is not polled sooner than it allows.
    expect(lease?.next_poll_at.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    await startWorker();
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
    expect(place.media.submissionsOf("Interrupted")).toHaveLength(1);
    expect(await caller.listCharges()).toHaveLength(1);
  });

  test("leaves a running submission to its deadline: it is not sent a second time", async () => {
    const gate = place.upstream.gate();
    place.media.always({ beforeHead: gate });
    const first = await startWorker({ shutdown_timeout_ms: 100 });
    const caller = await place.createCaller();
    const { id } = await caller.submitImage("image", "Half");
    await gate.reached();
    await stopWorker(first);
    gate.open();
    await startWorker();
    await waitUntil("its fate to be unknown", async () => (await readPhase(id)) === "unknown");
    expect(place.media.submissionsOf("Half")).toHaveLength(1);
    await expire(id);
    expect(await caller.awaitTask(id)).toMatchObject({ status: "expired" });
  });

  test("waits for short steps", async () => {
    const gate = place.upstream.gate();
    place.media.always({ beforeHead: gate });
    const first = await startWorker({ shutdown_timeout_ms: 30_000 });
    const caller = await place.createCaller();
    const { id } = await caller.submitImage("image", "Patient");
    await gate.reached();
    const stopped = stopWorker(first);
    gate.open();
    await stopped;
    expect(await readPhase(id)).toBe("running");
    await startWorker();
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
  });
});

describe("an upstream that accepts two tasks at a time", () => {
  test("never gets more from two workers, the others have a queue position, and the next starts when one ends", async () => {
    await place.applyCatalog(writeTaskCatalog(place.upstream, { falFields: { tasks_max: 2 } }));
    const gate = place.upstream.gate();
    place.media.always({ beforeFinish: gate });
    await Promise.all([startWorker(), startWorker()]);
    const caller = await place.createCaller();
    const tasks = [];
    for (let number = 0; number < 6; number += 1) tasks.push(await caller.submitImage("image", `Place ${number}`));
    await gate.reached(2);
    await waitUntil("the others to wait", async () => {
      const { rows } = await sql`select 1 from tasks where waits_for = 'fal'`.execute(place.database);
      return rows.length === 4;
    });
    expect(place.media.jobs).toHaveLength(2);
    const seen = await Promise.all(tasks.map(({ id }) => caller.readTask(id)));
    const positions = seen.flatMap(({ queue_position: position }) => position ?? []);
    expect(positions).toEqual([1, 2, 3, 4]);
    for (let ended = 1; ended <= 6; ended += 1) {
      gate.release();
      const doneCount = async () => {
        const { rows } = await sql`select 1 from tasks where state = 'succeeded'`.execute(place.database);
        return rows.length;
      };
      await waitUntil("one to end", async () => (await doneCount()) === ended);
      const begun = Math.min(ended + 2, 6);
      await waitUntil("the next to start", () => place.media.jobs.length >= begun);
      expect(place.media.jobs).toHaveLength(begun);
    }
  });

  test("does not stay idle when a task ends in the step that submitted it", async () => {
    await place.applyCatalog(writeTaskCatalog(place.upstream, { openFields: { tasks_max: 1 } }));
    const gate = place.upstream.gate();
    place.media.script({ beforeHead: gate });
    await startWorker();
    const caller = await place.createCaller();
    const first = await caller.submitImage("prompt-image", "First");
    await gate.reached();
    const second = await caller.submitImage("prompt-image", "Second");
    const { database } = place;
    await waitUntil("the second to wait", async () => {
      const query = database.selectFrom("tasks").select("waits_for").where("id", "=", second.id);
      return (await query.executeTakeFirst())?.waits_for === "open";
    });
    // It is polled again only when it is woken.
    await waitUntil("its lease to be returned", async () => {
      const lease = (await place.listLeases()).find(({ task_id }) => task_id === second.id);
      // Later than a held lease ends: a task that waits is only polled after a minute.
      return lease !== undefined && lease.next_poll_at.getTime() > Date.now() + 15_000;
    });
    await sql`update task_leases set next_poll_at = now() + interval '1 hour' where task_id = ${second.id}`.execute(
      database,
    );
    gate.open();
    await caller.awaitTask(first.id);
    await waitUntil("the second to start", () => place.media.submissionsOf("Second").length === 1);
    await caller.awaitTask(second.id);
  });
});
