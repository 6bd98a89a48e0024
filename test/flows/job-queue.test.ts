import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import { createJobQueue, type JobQueue } from "../../src/platform/jobs/job-queue.ts";
import { openScheduledJobs } from "../../src/platform/jobs/scheduled-jobs.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { waitUntil } from "../harness/wait-until.ts";

const name = "test-jobs";
let testDatabase: TestDatabase;
let database: Database;
let queues: JobQueue[];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  const address = { connectionString: testDatabase.url };
  database = createDatabase({ address, connectionsMax: 3, onConnectionError: () => {} });
  queues = [];
  // Whoever has scheduled jobs makes the schema that queues live in.
  const scheduled = await openScheduledJobs({ address, jobs: [], onFailure: () => {}, onTrouble: () => {} });
  await scheduled.close();
});
afterEach(async () => {
  for (const queue of queues) await queue.close();
  await database.destroy();
  // Fails when a connection is left open.
  await testDatabase.close();
});

async function openQueue(): Promise<JobQueue> {
  const address = { connectionString: testDatabase.url };
  const queue = createJobQueue({ address, name, onTrouble: () => {} });
  queues.push(queue);
  await queue.open();
  return queue;
}

async function send(queue: JobQueue, ...numbers: number[]): Promise<void> {
  await database.transaction().execute(async (tx) => {
    for (const number of numbers) await queue.send(tx, { number });
  });
}

/** Collects what is handed out; `failures` makes the first so many calls fail. */
async function collect(queue: JobQueue, failures = 0): Promise<number[]> {
  const handled: number[] = [];
  let left = failures;
  await queue.work(async (jobs) => {
    left -= 1;
    if (left >= 0) throw new Error("The handler failed.");
    handled.push(...jobs.map(({ number }) => Number(number)));
  });
  return handled;
}

test("a job exists if and only if its transaction commits", async () => {
  const queue = await openQueue();
  const undone = new Error("undone");
  const rolledBack = database.transaction().execute(async (tx) => {
    await queue.send(tx, { number: 1 });
    throw undone;
  });
  await expect(rolledBack).rejects.toBe(undone);
  await send(queue, 2);
  const handled = await collect(queue);
  await waitUntil("the job", () => handled.length > 0);
  await send(queue, 3);
  await waitUntil("the next job", () => handled.length > 1);
  expect(handled).toEqual([2, 3]);
});

test("a job is not handed out before its transaction commits", async () => {
  const queue = await openQueue();
  const handled = await collect(queue);
  await database.transaction().execute(async (tx) => {
    await queue.send(tx, { number: 1 });
    await send(queue, 2);
    await waitUntil("the job that was sent later", () => handled.length > 0);
    expect(handled).toEqual([2]);
  });
  await waitUntil("the first job", () => handled.length > 1);
  expect(handled).toEqual([2, 1]);
});

test("a job whose handler fails is tried again", async () => {
  const queue = await openQueue();
  const handled = await collect(queue, 1);
  await send(queue, 1);
  await waitUntil("the second try", () => handled.length > 0, 40_000);
  expect(handled).toEqual([1]);
});

test("of two queues each job goes to one", async () => {
  const [one, two] = [await openQueue(), await openQueue()];
  const handled = await Promise.all([collect(one), collect(two)]);
  const numbers = Array.from({ length: 60 }, (_, index) => index);
  await Promise.all(numbers.map((number) => send(number % 2 === 0 ? one : two, number)));
  await waitUntil("all jobs", () => handled.flat().length >= numbers.length);
  expect(handled.flat().toSorted((first, second) => first - second)).toEqual(numbers);
});

test("what was sent while nobody worked is handed out later", async () => {
  const sender = await openQueue();
  await send(sender, 1, 2, 3);
  const handled = await collect(await openQueue());
  await waitUntil("all jobs", () => handled.length === 3);
});

test("a queue that is closed while it works leaves no connection, and its jobs to others", async () => {
  const first = await openQueue();
  const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
  const started: unknown[] = [];
  await first.work(async (jobs) => {
    started.push(...jobs);
    await goOn;
  });
  await send(first, 1);
  await waitUntil("the job to start", () => started.length === 1);
  const closing = first.close();
  letGo();
  await closing;
  queues.splice(0);
  const second = await openQueue();
  const handled = await collect(second);
  await send(second, 2);
  await waitUntil("the next job", () => handled.length > 0);
  expect(handled).toContain(2);
});

test("a queue outlives its connections", async () => {
  const queue = await openQueue();
  const handled = await collect(queue);
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice-queue'");
  await client.end();
  await waitUntil("a job to be sent", () =>
    send(queue, 1).then(
      () => true,
      () => false,
    ),
  );
  await waitUntil("the job", () => handled.length > 0, 40_000);
  expect(new Set(handled)).toEqual(new Set([1]));
});
