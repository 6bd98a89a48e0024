import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../database/database.ts";
import { claimDueJobs, endJobLease, type JobLease, registerJobs, renewJobLeases } from "./job-store.ts";
import { findNextTime, type Schedule } from "./schedule.ts";

/** Work that falls due again and again. */
export type ScheduledJob = {
  name: string;
  schedule: Schedule;
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
 * - a run whose gateway was killed is started anew by another within half a minute;
 * - what fell due while no gateway was there is done once, soon after the next start.
 */
export type ScheduledJobs = {
  /** Starts nothing more; the runs that go on are neither waited for nor cut off yet. */
  stopStarting(): void;
  /** Waits for the runs that go on here. One that takes too long is cut off, and another gateway starts it anew. */
  close(): Promise<void>;
};

type ScheduledJobsDependencies = {
  database: Database;
  clock: Clock;
  /** All there are. Other rows of the table belong to other versions, and are left alone. */
  jobs: readonly ScheduledJob[];
  /** Told of each run that failed, or that was cut off before it ended. */
  onFailure(name: string, error: Error): void;
  /** Told of what keeps jobs from being started, each reason once until a look succeeds again. */
  onTrouble(error: Error): void;
  closeTimeoutMs: number;
  /** Whether jobs may be started at the moment. */
  mayStart?: () => boolean;
  /** How often it looks for due jobs and renews leases. Only tests look more often. */
  lookEveryMs?: number;
};

const lookMs = 5_000;
/** A gateway that has not renewed its lease for this long is believed to be dead. */
const leaseMs = 20_000;
const runMsMax = 60 * 60_000;

type Run = {
  job: ScheduledJob;
  lease: JobLease;
  until: Date;
  /** A run ends by itself, or is cut off; only one of them ends its lease. */
  state: "running" | "ended" | "cut-off";
  cutOff: AbortController;
};

/** Fails when the database does; later it waits for the database however long it is away. */
export async function openScheduledJobs(dependencies: ScheduledJobsDependencies): Promise<ScheduledJobs> {
  const { database, clock, jobs, mayStart = () => true, lookEveryMs = lookMs } = dependencies;
  const jobByName = new Map(jobs.map((job) => [job.name, job]));
  invariant(jobByName.size === jobs.length, "two scheduled jobs have one name");
  const runs = createRuns(dependencies);
  const closing = new AbortController();
  let lastTrouble: string | null = null;
  let isStarting = true;

  function takeTime(): { now: Date; until: Date } {
    const now = clock.now();
    return { now, until: new Date(now.getTime() + leaseMs) };
  }

  async function look(): Promise<void> {
    const time = takeTime();
    await runs.renew(time);
    const due = isStarting && mayStart() ? await claimDueJobs(database, [...jobByName.keys()], time) : [];
    for (const lease of due) {
      const job = jobByName.get(lease.name);
      if (job !== undefined) runs.start(job, { lease, until: time.until });
    }
    lastTrouble = null;
  }

  function reportTrouble(error: unknown): void {
    const { message } = toError(error);
    if (message !== lastTrouble) dependencies.onTrouble(toError(error));
    lastTrouble = message;
  }

  async function keepLooking(): Promise<void> {
    while (!closing.signal.aborted) {
      await look().catch(reportTrouble);
      await wait(lookEveryMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  const now = clock.now();
  const described = jobs.map(({ name, schedule }) => ({ name, schedule, dueAt: findNextTime(schedule, now) }));
  await registerJobs(database, described);
  const looking = keepLooking();
  return {
    stopStarting() {
      isStarting = false;
    },
    async close() {
      closing.abort();
      await looking;
      const renewing = setInterval(() => runs.renew(takeTime()).catch(reportTrouble), lookEveryMs);
      await runs.close();
      clearInterval(renewing);
    },
  };
}

/** The runs that go on in this process. */
function createRuns({ database, clock, onFailure, onTrouble, closeTimeoutMs }: ScheduledJobsDependencies) {
  const runs = new Map<Run, Promise<void>>();

  async function work(run: Run): Promise<void> {
    const { job, lease, cutOff } = run;
    const failure = await job.run(cutOff.signal).then(() => null, toError);
    // One that was cut off is reported already.
    if (run.state === "cut-off") return;
    run.state = "ended";
    if (failure !== null) onFailure(job.name, failure);
    await endLease(lease, findNextTime(job.schedule, clock.now()));
  }

  async function endLease(lease: JobLease, dueAt: Date | null): Promise<void> {
    // Should this fail, the lease runs out.
    await endJobLease(database, lease, dueAt).catch((error: unknown) => onTrouble(toError(error)));
  }

  /** The job stays due, for another gateway or for the next look. */
  async function cut(run: Run): Promise<void> {
    if (run.state !== "running") return;
    run.state = "cut-off";
    onFailure(run.job.name, createCutOffError());
    run.cutOff.abort();
    await endLease(run.lease, null);
  }

  return {
    start(job: ScheduledJob, { lease, until }: { lease: JobLease; until: Date }): void {
      const run: Run = { job, lease, until, state: "running", cutOff: new AbortController() };
      const tooLong = setTimeout(() => cut(run), runMsMax);
      const ended = work(run).finally(() => {
        clearTimeout(tooLong);
        runs.delete(run);
      });
      runs.set(run, ended);
    },
    /** Runs whose lease is lost are cut off: another gateway may have started them anew. */
    async renew({ now, until }: { now: Date; until: Date }): Promise<void> {
      const live = [...runs.keys()].filter(({ state }) => state === "running");
      const held = live.filter((run) => run.until > now);
      const leases = held.map(({ lease }) => lease);
      // The database may be away: what has run out is cut off without asking it.
      for (const run of live) if (run.until <= now) await cut(run);
      const renewed = leases.length === 0 ? new Set() : await renewJobLeases(database, leases, { now, until });
      for (const run of held) {
        if (renewed.has(run.lease.name)) run.until = until;
        else await cut(run);
      }
    },
    async close(): Promise<void> {
      const inTime = new AbortController();
      const late = wait(closeTimeoutMs, undefined, { signal: inTime.signal }).catch(() => {});
      await Promise.race([Promise.all(runs.values()), late]);
      inTime.abort();
      // A run that does not heed its signal cannot be waited for.
      await Promise.all([...runs.keys()].map(cut));
    },
  };
}

function createCutOffError(): Error {
  return new Error(
    `The run was cut off before it ended: it took over ${runMsMax / 60_000} minutes, or its gateway stood still, ` +
      "lost the database or was closed. It will be started anew.",
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
