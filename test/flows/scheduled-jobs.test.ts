import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import pg from "pg";
import { TestClock } from "pg-boss";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openScheduledJobs, type ScheduledJob, type ScheduledJobs } from "../../src/platform/jobs/scheduled-jobs.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { waitUntil } from "../harness/wait-until.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const hardlyEver = "0 0 29 2 *";

const midnight = Date.parse("2026-03-01T00:00:00Z");

type RecordedJobs = AsyncDisposable & {
  scheduled: ScheduledJobs;
  /** Which runs failed, and why. */
  failures: [string, string][];
  troubles: string[];
};

type JobsOptions = Partial<Pick<Parameters<typeof openScheduledJobs>[0], "closeTimeoutMs" | "clock">> & {
  url?: string;
};

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
  // These jobs have clocks of their own, so that what the template did at the time of the run must not count.
  await query("drop schema pgboss cascade");
});

// Fails when a connection is left open.
afterEach(() => database.close());

/** As one gateway has them; closed, if the test did not do so, when it ends. */
async function openJobs(jobs: readonly ScheduledJob[], options: JobsOptions = {}): Promise<RecordedJobs> {
  const { url = database.url, ...others } = options;
  const failures: [string, string][] = [];
  const troubles: string[] = [];
  const scheduled = await openScheduledJobs({
    address: { connectionString: url },
    jobs,
    onFailure: (name, error) => failures.push([name, error.message]),
    onTrouble: (error) => troubles.push(error.message),
    ...others,
  });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= scheduled.close();
    return closing;
  };
  return { scheduled: { ...scheduled, close }, failures, troubles, [Symbol.asyncDispose]: close };
}

/** Due every minute, with a count of its runs and a way to hold them up. */
function createJob(name = "sweep") {
  const started: number[] = [];
  const ended = { count: 0 };
  let gate: Promise<void> = Promise.resolve();
  let clock: TestClock | null = null;
  return {
    started,
    ended,
    cron: "* * * * *",
    name,
    /** Has runs note the time of this clock. */
    timeBy(other: TestClock): void {
      clock = other;
    },
    /** Runs wait from now on, until the function that it returns is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    async run(): Promise<void> {
      started.push(clock?.now() ?? 0);
      await gate;
      ended.count += 1;
    },
  };
}

async function query<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function listSchedules(): Promise<[string, string][]> {
  const rows = await query<{ name: string; cron: string }>("select name, cron from pgboss.schedule order by name");
  return rows.map(({ name, cron }) => [name, cron]);
}

/** A process that has the job "sweep", which says that it runs and never ends, and nothing else to live for. */
function spawnGateway(script: string) {
  const file = join(repositoryDir, "src/platform/jobs/scheduled-jobs.ts");
  const setting = `
    import { openScheduledJobs } from ${JSON.stringify(file)};
    const { promise: started, resolve: start } = Promise.withResolvers();
    const run = (signal) => new Promise((resolve, reject) => {
      console.log("runs");
      start();
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const scheduled = await openScheduledJobs({
      address: { connectionString: ${JSON.stringify(database.url)} },
      jobs: [{ name: "sweep", cron: ${JSON.stringify(hardlyEver)}, run }],
      onFailure: (name) => console.log(name + " cut off"),
      onTrouble: (error) => console.log(error),
      closeTimeoutMs: 1,
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

describe("jobs that are due", () => {
  test("a minutely job runs once in each minute, on one of all gateways", async () => {
    const clock = new TestClock(midnight + secondMs);
    const job = createJob();
    job.timeBy(clock);
    await using first = await openJobs([job], { clock });
    await using second = await openJobs([job], { clock });
    await clock.tick(5 * minuteMs - 2 * secondMs);
    const minutes = job.started.map((at) => Math.floor((at - midnight) / minuteMs));
    expect(minutes).toEqual([0, 1, 2, 3, 4]);
    expect([first, second].flatMap(({ failures, troubles }) => [...failures, ...troubles])).toEqual([]);
  });

  test("a job that several gateways are asked to run at once is run by one", async () => {
    const job = createJob();
    const release = job.hold();
    await using first = await openJobs([job]);
    await using second = await openJobs([job]);
    const gateways = [first, second];
    await Promise.all(gateways.map(({ scheduled }) => scheduled.runNow("sweep")));
    await waitUntil("the run", () => job.started.length > 0);
    await Promise.all(gateways.map(({ scheduled }) => scheduled.runNow("sweep")));
    release();
    await Promise.all(gateways.map(({ scheduled }) => scheduled.close()));
    expect([job.started.length, job.ended.count]).toEqual([1, 1]);
  });

  test("a run longer than its interval is waited for, however many gateways look, and then the job is due again", async () => {
    const clock = new TestClock(midnight + 50 * secondMs);
    const job = createJob();
    const release = job.hold();
    await using first = await openJobs([job], { clock });
    await using second = await openJobs([job], { clock });
    await clock.tick(3 * minuteMs);
    expect(job.started.length).toBe(1);
    release();
    await waitUntil("the end of the run", () => job.ended.count === 1);
    await clock.tick(minuteMs);
    expect(job.started.length).toBe(2);
    expect([...first.failures, ...second.failures]).toEqual([]);
  });

  test("what fell due while no gateway was there is done once", async () => {
    const clock = new TestClock(midnight);
    const job = { ...createJob(), cron: "0 */6 * * *" };
    const before = await openJobs([job], { clock });
    await clock.tick(minuteMs);
    await before.scheduled.close();
    const startedBefore = job.started.length;
    await clock.setTime(midnight + 20 * hourMs);
    await using _after = await openJobs([job], { clock });
    await clock.tick(3 * minuteMs);
    expect(job.started.length - startedBefore).toBe(1);
  });

  test("what is long done is forgotten, so that the table stays small", async () => {
    const clock = new TestClock(midnight);
    const job = createJob();
    await using _gateway = await openJobs([job], { clock });
    await clock.tick(minuteMs + 50 * secondMs);
    expect(job.started.length).toBeGreaterThan(0);
    await clock.setTime(midnight + 25 * hourMs);
    await clock.tick(minuteMs);
    const old = await query("select name from pgboss.job where created_on < '2026-03-02T00:00:00Z'");
    expect(old).toEqual([]);
  });

  test("only the jobs of today's version are due, at their times of today", async () => {
    const clock = new TestClock(midnight);
    const gone = createJob("gone");
    const kept = createJob("kept");
    const before = await openJobs([gone, kept, createJob("moved")], { clock });
    await before.scheduled.close();
    const ranBefore = gone.started.length;
    await using _after = await openJobs([kept, { ...createJob("moved"), cron: "30 4 * * *" }], { clock });
    expect(await listSchedules()).toEqual([
      ["kept", "* * * * *"],
      ["moved", "30 4 * * *"],
    ]);
    await clock.tick(2 * minuteMs);
    expect(kept.started.length).toBeGreaterThan(0);
    expect(gone.started.length).toBe(ranBefore);
  });
});

describe("runs that go wrong", () => {
  test("a run that fails is reported, and the job is due again at its next time, not before", async () => {
    const clock = new TestClock(midnight);
    const job = createJob();
    let attempts = 0;
    const failing = {
      ...job,
      async run() {
        attempts += 1;
        if (attempts === 1) throw new Error("The books do not balance.");
        await job.run();
      },
    };
    await using gateway = await openJobs([failing], { clock });
    await clock.tick(50 * secondMs);
    expect([attempts, gateway.failures]).toEqual([1, [["sweep", "The books do not balance."]]]);
    await clock.tick(minuteMs);
    expect([attempts, job.ended.count, gateway.failures.length]).toEqual([2, 1, 1]);
    const states = await query("select state from pgboss.job where name = 'sweep' order by created_on");
    expect(states).toEqual([{ state: "failed" }, { state: "completed" }]);
  });

  test("a run whose gateway is killed is started anew by another within a minute", async () => {
    const job = createJob();
    const clock = new TestClock();
    await using other = await openJobs([{ ...job, cron: hardlyEver }], { clock });
    await using killed = spawnGateway('await scheduled.runNow("sweep");');
    await once(killed.stdout, "data");
    await killed.kill();
    await clock.tick(15 * secondMs);
    expect(job.started.length).toBe(0);
    await clock.tick(40 * secondMs);
    expect(job.started.length).toBe(1);
    expect(other.failures).toEqual([]);
  });

  test("a run that its gateway has lost hears so by its signal, and is reported", async () => {
    const clock = new TestClock(midnight);
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
    await using gateway = await openJobs([job], { clock });
    await clock.tick(30 * secondMs);
    expect([starts, cutOffs]).toEqual([1, 0]);
    // As for a process that was stopped for two hours.
    await clock.setTime(clock.now() + 2 * hourMs);
    await clock.tick(minuteMs);
    expect(cutOffs).toBe(1);
    expect(starts).toBeGreaterThan(1);
    expect(gateway.failures).toEqual([["sweep", expect.stringContaining("cut off before it ended")]]);
  });

  test("broken connections to the database are reported and replaced", async () => {
    const job = createJob();
    await using gateway = await openJobs([job]);
    const end = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'sluice-jobs'";
    await query(`${end} and datname = current_database()`);
    await waitUntil("the report", () => gateway.troubles.length > 0);
    await gateway.scheduled.runNow("sweep");
    await waitUntil("the run", () => job.ended.count === 1);
    expect(new Set(gateway.troubles).size).toBe(gateway.troubles.length);
  });
});

describe("a start", () => {
  test("several gateways may start at once on a new database, beside whose tables there are no new ones", async () => {
    const listTables = () => query("select tablename from pg_tables where schemaname = 'public' order by 1");
    const tablesBefore = await listTables();
    const jobs = [createJob("first"), createJob("second")];
    const gateways = await Promise.all([1, 2, 3].map(() => openJobs(jobs)));
    await Promise.all(gateways.map(({ scheduled }) => scheduled.close()));
    expect(gateways.flatMap(({ failures, troubles }) => [...failures, ...troubles])).toEqual([]);
    expect(await listTables()).toEqual(tablesBefore);
    expect((await listSchedules()).map(([name]) => name)).toEqual(["first", "second"]);
  });

  test("a database user who may not make a schema is told what is missing", async () => {
    const user = `guest_${randomBytes(4).toString("hex")}`;
    await query(`create role ${user} login password 'guest'`);
    const url = new URL(database.url);
    url.username = user;
    url.password = "guest";
    await expect(openJobs([], { url: url.href })).rejects.toMatchObject({
      name: "OperatorError",
      remedy: expect.stringContaining("grant create on database"),
    });
    await query(`drop role ${user}`);
  });

  test("a job with a time that nobody understands is an error, and nothing is left behind", async () => {
    await expect(openJobs([createJob(), { ...createJob("odd"), cron: "now and then" }])).rejects.toThrow(
      "Validation error",
    );
  });

  test("a database that is not there is an error", async () => {
    const url = new URL(database.url);
    url.pathname = "/nowhere";
    await expect(openJobs([createJob()], { url: url.href })).rejects.toThrow('database "nowhere" does not exist');
  });
});

describe("a close", () => {
  test("waits for the run that goes on", async () => {
    const job = createJob();
    const release = job.hold();
    const other = await openJobs([job]);
    const { scheduled, failures } = await openJobs([job]);
    await scheduled.runNow("sweep");
    await waitUntil("the run", () => job.started.length === 1);
    const events: string[] = [];
    const closing = scheduled.close().then(() => events.push("closed"));
    // Another one shows that there was time enough to close.
    await other.scheduled.close();
    events.push("released");
    release();
    await closing;
    expect([events, job.ended.count, failures]).toEqual([["released", "closed"], 1, []]);
    const states = await query("select state from pgboss.job where name = 'sweep'");
    expect(states).toEqual([{ state: "completed" }]);
  });

  test("cuts off a run that takes too long, and another gateway starts it anew", async () => {
    const clock = new TestClock(midnight);
    const job = createJob();
    const hanging: ScheduledJob = { ...job, run: (signal) => once(signal, "abort").then(() => {}) };
    await using other = await openJobs([job], { clock });
    const closed = await openJobs([hanging], { clock, closeTimeoutMs: 1 });
    await closed.scheduled.runNow("sweep");
    await waitUntil("the claim", async () => {
      const [row] = await query<{ state: string }>("select state from pgboss.job where name = 'sweep'");
      return row?.state === "active";
    });
    await closed.scheduled.close();
    expect(closed.failures).toEqual([["sweep", expect.stringContaining("cut off before it ended")]]);
    expect(job.started.length).toBe(0);
    await clock.tick(15 * secondMs);
    expect([job.started.length, other.failures]).toEqual([1, []]);
  });

  test("puts back what it claims at the last moment", async () => {
    const job = createJob();
    const release = job.hold();
    const first = await openJobs([job], { closeTimeoutMs: 1 });
    await first.scheduled.runNow("sweep");
    await waitUntil("the run", () => job.started.length === 1);
    await first.scheduled.close();
    // It looks for work as soon as it is there, and finds the run that was cut off.
    const second = await openJobs([job]);
    await second.scheduled.close();
    expect(job.started.length).toBe(1);
    expect(await query("select state from pgboss.job where name = 'sweep'")).toEqual([{ state: "retry" }]);
    await using _third = await openJobs([job]);
    await waitUntil("the new run", () => job.started.length === 2);
    release();
  });

  test("leaves nothing that keeps a process from ending", async () => {
    await using idle = spawnGateway("await scheduled.close();");
    expect(await idle.exited).toEqual([0, null]);
    await using busy = spawnGateway('await scheduled.runNow("sweep"); await started; await scheduled.close();');
    const output = text(busy.stdout);
    expect(await busy.exited).toEqual([0, null]);
    expect(await output).toBe("runs\nsweep cut off\n");
  });
});
