import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import type { Schedule } from "../../../src/platform/jobs/schedule.ts";
import { openScheduledJobs, type ScheduledJob, type ScheduledJobs } from "../../../src/platform/jobs/scheduled-jobs.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { createTestClock, type TestClock } from "../../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const everyMinute: Schedule = {};
const midnight = new Date("2026-03-01T00:00:00Z");

type RecordedJobs = AsyncDisposable & {
  scheduled: ScheduledJobs;
  /** Which runs failed, and why. */
  failures: [string, string][];
  troubles: string[];
};

let testDatabase: TestDatabase;
let database: Database;
let clock: TestClock;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  const address = { connectionString: testDatabase.url };
  database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
  clock = createTestClock(midnight);
});
afterEach(async () => {
  await database.destroy();
  // Fails if a connection is left open.
  await testDatabase.close();
});

/** The jobs of one gateway; closed at the end of the test if it did not do so. */
async function openJobs(
  jobs: readonly ScheduledJob[],
  options: { clock?: TestClock; closeTimeoutMs?: number; mayStart?: () => boolean; holdUpMs?: number } = {},
): Promise<RecordedJobs> {
  const failures: [string, string][] = [];
  const troubles: string[] = [];
  const scheduled = await openScheduledJobs({
    database,
    clock: options.clock ?? clock,
    jobs,
    onFailure: (name, error) => failures.push([name, error.message]),
    onTrouble: (error) => troubles.push(error.message),
    closeTimeoutMs: options.closeTimeoutMs ?? 10_000,
    mayStart: options.mayStart ?? (() => true),
    pollIntervalMs: 10,
    holdUpMs: options.holdUpMs ?? 1,
  });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= scheduled.close();
    return closing;
  };
  return { scheduled: { ...scheduled, close }, failures, troubles, [Symbol.asyncDispose]: close };
}

/** Due every minute, with a count of its runs and a way to block them. */
function createJob(name = "sweep", schedule: Schedule = everyMinute) {
  const counts = { started: 0, ended: 0 };
  let gate: Promise<void> = Promise.resolve();
  return {
    counts,
    schedule,
    name,
    /** Blocks runs until the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    async run(): Promise<void> {
      counts.started += 1;
      await gate;
      counts.ended += 1;
    },
  };
}

/** Every poll claims all due jobs, so a job that did not start with this one was not due. */
async function seeRun(other: ReturnType<typeof createJob>): Promise<void> {
  const before = other.counts.ended;
  await waitUntil(`a run of ${other.name}`, () => other.counts.ended > before);
}

async function readJobs() {
  return await database.selectFrom("scheduled_jobs").selectAll().orderBy("name").execute();
}

describe("due jobs", () => {
  test("are left alone by a gateway that may not start them yet", async () => {
    const job = createJob();
    let looks = 0;
    let mayStart = false;
    await using _jobs = await openJobs([job], {
      mayStart() {
        looks += 1;
        return mayStart;
      },
    });
    clock.advance(minuteMs);
    await waitUntil("some looks", () => looks > 3);
    expect([job.counts.started, await readJobs()]).toMatchObject([0, [{ leased_until: null }]]);
    mayStart = true;
    await seeRun(job);
  });

  test("run once per minute, on one of all gateways", async () => {
    const job = createJob();
    await using first = await openJobs([job]);
    await using second = await openJobs([job]);
    for (let minute = 1; minute <= 5; minute += 1) {
      clock.advance(minuteMs);
      await waitUntil("the run", () => job.counts.ended === minute);
    }
    await Promise.all([first.scheduled.close(), second.scheduled.close()]);
    expect(job.counts.started).toBe(5);
    expect([first, second].flatMap(({ failures, troubles }) => [...failures, ...troubles])).toEqual([]);
  });

  test("run one after another", async () => {
    const jobs = ["first", "second", "third"].map((name) => createJob(name));
    const isRunning = ({ counts }: (typeof jobs)[number]) => counts.started > counts.ended;
    const most: number[] = [];
    const watched = jobs.map((job) => ({
      ...job,
      async run() {
        const running = job.run();
        most.push(jobs.filter(isRunning).length);
        await readJobs();
        await running;
      },
    }));
    const releases = jobs.map((job) => job.hold());
    await using gateway = await openJobs(watched, { holdUpMs: minuteMs });
    clock.advance(minuteMs);
    for (const count of [1, 2, 3]) {
      await waitUntil(`run ${count}`, () => most.length === count);
      for (const [at, job] of jobs.entries()) if (isRunning(job)) releases[at]?.();
    }
    await waitUntil("the end of all", async () => (await readJobs()).every((row) => row.leased_until === null));
    expect([most, gateway.failures]).toEqual([[1, 1, 1], []]);
  });

  test("that wait for another stay due if the gateway stops starting runs", async () => {
    const jobs = [createJob("first"), createJob("second")];
    const releases = jobs.map((job) => job.hold());
    await using gateway = await openJobs(jobs, { holdUpMs: minuteMs });
    clock.advance(minuteMs);
    await waitUntil("a run", () => jobs.some(({ counts }) => counts.started === 1));
    gateway.scheduled.stopStarting();
    for (const release of releases) release();
    await waitUntil("the leases to end", async () => (await readJobs()).every((row) => row.leased_until === null));
    expect(jobs.map(({ counts }) => counts.started).toSorted()).toEqual([0, 1]);
    const dueAt = (await readJobs()).map((row) => row.due_at.toISOString()).toSorted();
    expect(dueAt).toEqual(["2026-03-01T00:01:00.000Z", "2026-03-01T00:02:00.000Z"]);
  });

  test("wait for a run that takes longer than their interval, and are due again at their next time after it", async () => {
    const job = createJob();
    const other = createJob("other");
    const release = job.hold();
    await using first = await openJobs([job, other]);
    await using second = await openJobs([job, other]);
    for (let minute = 1; minute <= 3; minute += 1) {
      const seen = seeRun(other);
      // In steps that leave time to renew the lease.
      for (let step = 0; step < 6; step += 1) {
        clock.advance(10 * secondMs);
        const until = clock.now().getTime() + 20 * secondMs;
        const isHeld = async () => minute === 1 || (await readLease("sweep")) === until;
        await waitUntil("the lease to be renewed", isHeld);
      }
      await seen;
    }
    expect(job.counts.started).toBe(1);
    release();
    await waitUntil("the end of the run", async () => (await readLease("sweep")) === null);
    clock.advance(minuteMs);
    await waitUntil("the next run", () => job.counts.ended === 2);
    expect([...first.failures, ...second.failures]).toEqual([]);
  });

  test("run once after an outage of all gateways, however often they fell due", async () => {
    const job = createJob("sweep", { minute: 23 });
    const other = createJob("other");
    await (await openJobs([job, other])).scheduled.close();
    clock.advance(20 * hourMs);
    await using _after = await openJobs([job, other]);
    await waitUntil("the run", () => job.counts.ended === 1);
    clock.advance(minuteMs);
    await seeRun(other);
    expect(job.counts.started).toBe(1);
  });

  test("keep their next time over a restart, and get a new one when their schedule changed", async () => {
    await (await openJobs([createJob("kept", { minute: 5 }), createJob("moved")])).scheduled.close();
    clock.advance(secondMs);
    await (
      await openJobs([createJob("kept", { minute: 5 }), createJob("moved", { hour: 4, minute: 30 })])
    ).scheduled.close();
    const due = (await readJobs()).map(({ name, due_at: dueAt }) => [name, dueAt.toISOString()]);
    expect(due).toEqual([
      ["kept", "2026-03-01T00:05:00.000Z"],
      ["moved", "2026-03-01T04:30:00.000Z"],
    ]);
  });

  test("of another version are left alone", async () => {
    const [gone, kept] = [createJob("gone"), createJob("kept")];
    await (await openJobs([gone, kept])).scheduled.close();
    await using _after = await openJobs([kept]);
    clock.advance(minuteMs);
    await seeRun(kept);
    expect(gone.counts.started).toBe(0);
    expect((await readJobs()).map(({ name }) => name)).toEqual(["gone", "kept"]);
  });
});

async function readLease(name: string): Promise<number | null> {
  const query = database.selectFrom("scheduled_jobs").select("leased_until").where("name", "=", name);
  return (await query.executeTakeFirstOrThrow()).leased_until?.getTime() ?? null;
}

/** A process with nothing but the job "sweep" to keep it alive; the job prints a line and never ends. */
function spawnGateway(script: string) {
  const at = (path: string): string => JSON.stringify(join(repositoryDir, path));
  const setting = `
    import { createDatabase } from ${at("src/platform/database/database.ts")};
    import { openScheduledJobs } from ${at("src/platform/jobs/scheduled-jobs.ts")};
    const { promise: started, resolve: start } = Promise.withResolvers();
    const run = (signal) => new Promise((resolve, reject) => {
      console.log("runs");
      start();
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const address = { connectionString: ${JSON.stringify(testDatabase.url)} };
    const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
    const clock = { now: () => new Date(${midnight.getTime() + minuteMs}), monotonicMs: () => 0 };
    const scheduled = await openScheduledJobs({
      database, clock,
      jobs: [{ name: "sweep", schedule: {}, run }],
      onFailure: (name) => console.log(name + " cut off"),
      onTrouble: (error) => console.log(error),
      closeTimeoutMs: 1, pollIntervalMs: 10,
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", `${setting}\n${script}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  return {
    stdout: child.stdout,
    exited,
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await exited;
    },
    async [Symbol.asyncDispose]() {
      await this.kill();
    },
  };
}

/** Registers "sweep", which is due at the first minute. */
async function register(): Promise<void> {
  await (await openJobs([createJob()])).scheduled.close();
}

describe("failed runs", () => {
  test("are reported, and the job is due again at its next time, not before", async () => {
    const job = createJob();
    const other = createJob("other");
    let attempts = 0;
    const failing = {
      ...job,
      async run() {
        attempts += 1;
        if (attempts === 1) throw new Error("The books do not balance.");
        await job.run();
      },
    };
    await using gateway = await openJobs([failing, other]);
    clock.advance(minuteMs);
    await seeRun(other);
    await waitUntil("the end of the run", async () => (await readLease("sweep")) === null);
    expect([attempts, gateway.failures]).toEqual([1, [["sweep", "The books do not balance."]]]);
    clock.advance(minuteMs);
    await waitUntil("the next run", () => job.counts.ended === 1);
    expect([attempts, gateway.failures.length]).toEqual([2, 1]);
  });

  test("of a killed gateway are restarted by another when the lease is over", async () => {
    await register();
    const job = createJob();
    const other = createJob("other");
    await using killed = spawnGateway("");
    await once(killed.stdout, "data");
    await killed.kill();
    await using gateway = await openJobs([job, other]);
    clock.advance(minuteMs + 19 * secondMs);
    await seeRun(other);
    expect(job.counts.started).toBe(0);
    clock.advance(secondMs);
    await waitUntil("the new run", () => job.counts.ended === 1);
    expect(gateway.failures).toEqual([]);
  });

  test("of a suspended gateway are aborted by their signal, reported and restarted", async () => {
    let starts = 0;
    let cutOffs = 0;
    const job: ScheduledJob = {
      ...createJob(),
      async run(signal) {
        starts += 1;
        if (starts > 1) return;
        await once(signal, "abort");
        cutOffs += 1;
        throw signal.reason;
      },
    };
    await using gateway = await openJobs([job]);
    clock.advance(minuteMs);
    await waitUntil("the run", () => starts === 1);
    // As if the process was suspended for two hours.
    clock.advance(2 * hourMs);
    await waitUntil("the new run", () => starts === 2);
    expect(cutOffs).toBe(1);
    expect(gateway.failures).toEqual([["sweep", expect.stringContaining("The run was aborted")]]);
  });

  test("during a database outage are reported once per reason, and polling continues until it is back", async () => {
    const job = createJob();
    await using gateway = await openJobs([job]);
    await sql`alter table scheduled_jobs rename to hidden_jobs`.execute(database);
    await waitUntil("the report", () => gateway.troubles.length > 0);
    await sql`alter table hidden_jobs rename to scheduled_jobs`.execute(database);
    clock.advance(minuteMs);
    await waitUntil("the run", () => job.counts.ended === 1);
    expect(new Set(gateway.troubles).size).toBe(gateway.troubles.length);
  });
});

describe("a start", () => {
  test("of several gateways at once on a new database creates one row per job", async () => {
    const jobs = [createJob("first"), createJob("second")];
    const gateways = await Promise.all([1, 2, 3].map(() => openJobs(jobs)));
    await Promise.all(gateways.map(({ scheduled }) => scheduled.close()));
    expect(gateways.flatMap(({ failures, troubles }) => [...failures, ...troubles])).toEqual([]);
    expect((await readJobs()).map(({ name }) => name)).toEqual(["first", "second"]);
  });
});

describe("a close", () => {
  test("waits for the current run", async () => {
    const job = createJob();
    const release = job.hold();
    const { scheduled, failures } = await openJobs([job]);
    clock.advance(minuteMs);
    await waitUntil("the run", () => job.counts.started === 1);
    const events: string[] = [];
    const closing = scheduled.close().then(() => events.push("closed"));
    // Another one shows that there was enough time to close.
    await (await openJobs([createJob("other")])).scheduled.close();
    events.push("released");
    release();
    await closing;
    expect([events, job.counts.ended, failures]).toEqual([["released", "closed"], 1, []]);
    expect(await readLease("sweep")).toBeNull();
  });

  test("cuts off a run that takes too long, and another gateway restarts it at once", async () => {
    const job = createJob();
    let claims = 0;
    const hanging: ScheduledJob = {
      ...job,
      run: (signal) => {
        claims += 1;
        return once(signal, "abort").then(() => {});
      },
    };
    const closed = await openJobs([hanging], { closeTimeoutMs: 1 });
    clock.advance(minuteMs);
    await waitUntil("the claim", () => claims === 1);
    await closed.scheduled.close();
    expect(closed.failures).toEqual([["sweep", expect.stringContaining("The run was aborted")]]);
    await using other = await openJobs([job]);
    await waitUntil("the new run", () => job.counts.ended === 1);
    expect(other.failures).toEqual([]);
  });

  test("leaves nothing that keeps a process alive", async () => {
    await using idle = spawnGateway("await scheduled.close(); await database.destroy();");
    expect(await idle.exited).toEqual([0, null]);
    await sql`update scheduled_jobs set due_at = ${midnight}`.execute(database);
    await using busy = spawnGateway("await started; await scheduled.close(); await database.destroy();");
    const output = text(busy.stdout);
    expect(await busy.exited).toEqual([0, null]);
    expect(await output).toBe("runs\nsweep cut off\n");
  });
});
