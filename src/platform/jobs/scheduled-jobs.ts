import { setTimeout as wait } from "node:timers/promises";
import type { Clock, ConstructorOptions, Job, JobResult, PgBoss, ScheduleOptions } from "pg-boss";
import { invariant } from "../../lib/invariant.ts";
import type { DatabaseAddress } from "../database/database.ts";
import { OperatorError } from "../errors/operator-error.ts";

/** Work that falls due again and again. */
export type ScheduledJob = {
  name: string;
  /** When it is due: minute, hour, day of the month, month, day of the week, in UTC. */
  cron: string;
  /**
   * Does what is to be done by now. It is called again when it was cut off halfway (its gateway was killed, stood still
   * or closed), so it must be safe to repeat; and it must end when the signal says so, or another run soon stands
   * beside it.
   */
  run(signal: AbortSignal): Promise<void>;
};

/**
 * Starts what is due, on one of all gateways that share the database:
 *
 * - never a second run of the same job beside the first, however long that takes, up to an hour;
 * - a run that fails is reported, and the job is due again at its next time;
 * - a run whose gateway was killed is started anew by another within a minute;
 * - what fell due while no gateway was there is done once, soon after the next start.
 */
export type ScheduledJobs = {
  /** Has a run started now, as if it were due; nothing happens when one waits or goes on already. */
  runNow(name: string): Promise<void>;
  /** Waits for the runs that go on here. One that takes too long is cut off, and another gateway starts it anew. */
  close(): Promise<void>;
};

type ScheduledJobsParts = {
  address: DatabaseAddress;
  /** All there are: what earlier versions had scheduled besides is forgotten. */
  jobs: readonly ScheduledJob[];
  /** Told of each run that failed, or that was cut off before it ended. */
  onFailure(name: string, error: Error): void;
  /** Told of what keeps jobs from being started, each reason once until a run starts again. */
  onTrouble(error: Error): void;
  closeTimeoutMs?: number;
  /** Time and timers; only tests have one that is not the system's. */
  clock?: Clock;
};

/** A minutely job starts within half of its minute: the look for what is due, the handing over, the look for work. */
const dueEverySeconds = 15;
const handOverEverySeconds = 5;
const workEverySeconds = 10;

/** A dead gateway's run is free after a heartbeat's time, a round of supervision, and the look for work: 55 seconds. */
const heartbeatEverySeconds = 5;
const heartbeatSecondsMax = 20;
const superviseEverySeconds = 15;
const superviseSecondsMin = 10;

const runSecondsMax = 3600;
const hourSeconds = 3600;

const settings = {
  schema: "pgboss",
  application_name: "sluice-jobs",
  // A pool of its own: a statement of pg-boss that fails leaves its transaction open, which only its own pool knows to
  // throw away. On the gateway's pool the next request would find the broken connection.
  max: 2,
  connectionTimeoutMillis: 5000,
  cronMonitorIntervalSeconds: dueEverySeconds,
  cronWorkerIntervalSeconds: handOverEverySeconds,
  superviseIntervalSeconds: superviseEverySeconds,
  monitorIntervalSeconds: superviseSecondsMin,
  maintenanceIntervalSeconds: hourSeconds,
  // Jobs that wait for other jobs: we have none.
  flowIntervalSeconds: hourSeconds,
} as const satisfies ConstructorOptions;

/** Given with every run instead of to its queue, whose options would stay as the first version wrote them. */
const runOptions = {
  heartbeatSeconds: heartbeatSecondsMax,
  expireInSeconds: runSecondsMax,
  // For runs that were cut off; one that fails is over.
  retryLimit: 3,
  deleteAfterSeconds: 24 * hourSeconds,
} as const satisfies ScheduleOptions;

/** Where pg-boss keeps what is due until it is handed over; it would keep that for a week, and count it again and again. */
const handOverQueue = "__pgboss__send-it";

/** Fails when the database does; later it waits for the database however long it is away. */
export async function openScheduledJobs(parts: ScheduledJobsParts): Promise<ScheduledJobs> {
  const { jobs, onFailure, onTrouble, closeTimeoutMs = 10_000 } = parts;
  invariant(new Set(jobs.map(({ name }) => name)).size === jobs.length, "two scheduled jobs have one name");
  // Loaded only where it is used: commands have no jobs.
  const { PgBoss } = await import("pg-boss");
  const clock = parts.clock === undefined ? {} : { clock: parts.clock };
  const boss = new PgBoss({ ...settings, ...parts.address, ...clock });
  const workers = new Map<string, string>();
  const reported = new Set<string>();
  let isClosing = false;

  function reportTrouble(trouble: { message: string }): void {
    const reason = trouble.message.replace(/ \(Queue: .*\)$/, "");
    if (isClosing || reported.has(reason)) return;
    reported.add(reason);
    // Some of pg-boss's errors are no errors, but objects that look like one.
    onTrouble(trouble instanceof Error ? trouble : new Error(reason, { cause: trouble }));
  }

  async function startRun(job: ScheduledJob, { id, signal }: Job): Promise<JobResult[]> {
    reported.clear();
    // Claimed at the last moment: back into the queue, for another gateway.
    if (isClosing) return [{ id, status: "failed" }];
    const reportCutOff = (): void => onFailure(job.name, createCutOffError(signal.reason));
    signal.addEventListener("abort", reportCutOff);
    try {
      await job.run(signal);
      return [{ id, status: "completed" }];
    } catch (error) {
      if (!signal.aborted) onFailure(job.name, toError(error));
      // Failed for good: another try is what the next time is for.
      return [{ id, status: "deadletter" }];
    } finally {
      // pg-boss aborts the signal of every run in the end.
      signal.removeEventListener("abort", reportCutOff);
    }
  }

  boss.on("error", reportTrouble);
  boss.on("warning", reportTrouble);
  try {
    await boss.start();
    await writeSchedules(boss, jobs);
    for (const job of jobs) {
      const options = {
        pollingIntervalSeconds: workEverySeconds,
        heartbeatRefreshSeconds: heartbeatEverySeconds,
        perJobResults: true,
      } as const;
      const startFirst = async ([due]: Job[]): Promise<JobResult[]> => (due === undefined ? [] : startRun(job, due));
      workers.set(job.name, await boss.work(job.name, options, startFirst));
    }
  } catch (error) {
    isClosing = true;
    await boss.stop({ graceful: false });
    throw explainRefusal(error);
  }

  return {
    async runNow(name) {
      const worker = workers.get(name);
      invariant(worker !== undefined, `no scheduled job is called ${name}`);
      await boss.send(name, {}, runOptions);
      boss.notifyWorker(worker);
    },
    async close() {
      isClosing = true;
      const runsEnded = new AbortController();
      const ended = Promise.all(jobs.map(({ name }) => boss.offWork(name))).then(() => runsEnded.abort());
      const tooLate = wait(closeTimeoutMs, undefined, { signal: runsEnded.signal }).catch(() => {});
      await Promise.race([ended, tooLate]);
      // pg-boss's own way to wait looks only twice a second whether the runs have ended.
      await boss.stop({ graceful: false });
    },
  };
}

/** Makes the queues and the schedules of the given jobs, and removes all other schedules. */
async function writeSchedules(boss: PgBoss, jobs: readonly ScheduledJob[]): Promise<void> {
  const existing = new Set((await boss.getQueues()).map(({ name }) => name));
  const names = new Set(jobs.map(({ name }) => name));
  const obsolete = (await boss.getSchedules()).filter(({ name }) => !names.has(name));
  await Promise.all(obsolete.map(({ name, key }) => boss.unschedule(name, key)));
  await boss.updateQueue(handOverQueue, { deleteAfterSeconds: hourSeconds });
  const writeSchedule = async ({ name, cron }: ScheduledJob): Promise<void> => {
    // Exclusive: what falls due while a run waits or goes on is dropped.
    if (!existing.has(name)) await boss.createQueue(name, { policy: "exclusive" });
    await boss.schedule(name, cron, {}, { ...runOptions, missed: "once" });
  };
  await Promise.all(jobs.map(writeSchedule));
}

function createCutOffError(reason: unknown): Error {
  return new Error(
    `The run was cut off before it ended: it took over ${runSecondsMax} seconds, or its gateway stood still, ` +
      "lost the database or was closed. It will be started anew.",
    { cause: reason },
  );
}

function explainRefusal(error: unknown): unknown {
  const isRefused = error instanceof Error && "code" in error && error.code === "42501";
  if (!isRefused) return error;
  return new OperatorError(
    `The database does not let Sluice make its schema ${settings.schema}: ${error.message}.`,
    "Give the user of database_url the right: grant create on database <name> to <user>.",
    { cause: error },
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
