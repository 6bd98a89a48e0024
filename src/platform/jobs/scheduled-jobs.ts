import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../database/database.ts";
import { claimDueJobs, endJobLease, type JobLease, registerJobs, renewJobLeases } from "./job-store.ts";
import { findNextTime, type Schedule } from "./schedule.ts";

export type ScheduledJob = {
  name: string;
  schedule: Schedule;
  /**
   * Must be idempotent: an interrupted run is repeated (gateway killed, blocked or closed). Must stop on the signal, or
   * a second run may start beside it.
   */
  run(signal: AbortSignal): Promise<void>;
};

/**
 * Runs each due job on one of the gateways that share the database:
 *
 * - jobs that are due together run one after another, but a long one holds up the next for a second only: at once, they
 *   would open twenty connections each minute, and delay requests;
 * - a job never runs twice at the same time; a run may take up to an hour;
 * - a failed run is reported, and the job is due again at its next time;
 * - if a gateway is killed, another one restarts its run within half a minute;
 * - a job that fell due while no gateway ran, runs once soon after the next start.
 */
export type ScheduledJobs = {
  /** Starts no more runs; running ones continue. Waiting ones stay due, for another gateway. */
  stopStarting(): void;
  /** Waits for the runs of this process. After the timeout they are aborted, and another gateway repeats them. */
  close(): Promise<void>;
};

type ScheduledJobsDependencies = {
  database: Database;
  clock: Clock;
  /** Rows of other jobs belong to other versions and are left alone. */
  jobs: readonly ScheduledJob[];
  /** Called for each failed or aborted run. */
  onFailure(name: string, error: Error): void;
  /** Called when polling fails, once per reason until a poll succeeds. */
  onTrouble(error: Error): void;
  closeTimeoutMs: number;
  mayStart?: () => boolean;
  /** Interval of polling and lease renewal; tests use a shorter one. */
  pollIntervalMs?: number;
  /** For so long a run holds up the next. */
  holdUpMs?: number;
};

type Runner = ScheduledJobsDependencies & { mayBegin(): boolean };

const defaultPollIntervalMs = 5_000;
const defaultHoldUpMs = 1_000;
/** A gateway that has not renewed its lease for this long counts as dead. */
const leaseMs = 20_000;
const runMsMax = 60 * 60_000;

type Run = {
  job: ScheduledJob;
  lease: JobLease;
  until: Date;
  /** Whichever comes first, the end or the abort, ends the lease. */
  state: "waiting" | "running" | "ended" | "cut-off";
  cutOff: AbortController;
};

/** Throws if the database is unavailable at the start; later it retries forever. */
export async function openScheduledJobs(dependencies: ScheduledJobsDependencies): Promise<ScheduledJobs> {
  const { database, clock, jobs, mayStart = () => true, pollIntervalMs = defaultPollIntervalMs } = dependencies;
  const jobByName = new Map(jobs.map((job) => [job.name, job]));
  invariant(jobByName.size === jobs.length, "scheduled jobs must have distinct names");
  let isStarting = true;
  const runs = createRuns({ ...dependencies, mayBegin: () => isStarting });
  const closing = new AbortController();
  let lastTrouble: string | null = null;

  function takeTime(): { now: Date; until: Date } {
    const now = clock.now();
    return { now, until: new Date(now.getTime() + leaseMs) };
  }

  async function poll(): Promise<void> {
    const time = takeTime();
    await runs.renew(time);
    const due = isStarting && mayStart() ? await claimDueJobs(database, [...jobByName.keys()], time) : [];
    let turn: Promise<unknown> = Promise.resolve();
    for (const lease of due) {
      const job = jobByName.get(lease.name);
      if (job !== undefined) turn = runs.start(job, { lease, until: time.until }, turn);
    }
    lastTrouble = null;
  }

  function reportTrouble(error: unknown): void {
    const { message } = toError(error);
    if (message !== lastTrouble) dependencies.onTrouble(toError(error));
    lastTrouble = message;
  }

  async function pollForever(): Promise<void> {
    while (!closing.signal.aborted) {
      await poll().catch(reportTrouble);
      await wait(pollIntervalMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  const now = clock.now();
  const described = jobs.map(({ name, schedule }) => ({ name, schedule, dueAt: findNextTime(schedule, now) }));
  await registerJobs(database, described);
  const polling = pollForever();
  return {
    stopStarting() {
      isStarting = false;
    },
    async close() {
      isStarting = false;
      closing.abort();
      await polling;
      const renewing = setInterval(() => runs.renew(takeTime()).catch(reportTrouble), pollIntervalMs);
      await runs.close();
      clearInterval(renewing);
    },
  };
}

/** The running jobs of this process. */
function createRuns(runner: Runner) {
  const { database, clock, onFailure, onTrouble, closeTimeoutMs, mayBegin, holdUpMs = defaultHoldUpMs } = runner;
  const runs = new Map<Run, Promise<void>>();

  async function work(run: Run): Promise<void> {
    const { job, lease, cutOff } = run;
    // Cut off while it waited.
    if (run.state !== "waiting") return;
    if (!mayBegin()) {
      run.state = "ended";
      await endLease(lease, null);
      return;
    }
    run.state = "running";
    const failure = await job.run(cutOff.signal).then(() => null, toError);
    // An aborted run is already reported.
    if (!isLive(run)) return;
    run.state = "ended";
    if (failure !== null) onFailure(job.name, failure);
    await endLease(lease, findNextTime(job.schedule, clock.now()));
  }

  async function endLease(lease: JobLease, dueAt: Date | null): Promise<void> {
    // If this fails, the lease expires.
    await endJobLease(database, lease, dueAt).catch((error: unknown) => onTrouble(toError(error)));
  }

  /** The job stays due, for the next poll of any gateway. */
  async function cut(run: Run): Promise<void> {
    if (!isLive(run)) return;
    run.state = "cut-off";
    onFailure(run.job.name, createCutOffError());
    run.cutOff.abort();
    await endLease(run.lease, null);
  }

  return {
    /** Returns the turn of the next. */
    start(job: ScheduledJob, { lease, until }: { lease: JobLease; until: Date }, turn: Promise<unknown>) {
      const run: Run = { job, lease, until, state: "waiting", cutOff: new AbortController() };
      const tooLong = setTimeout(() => cut(run), runMsMax);
      const ended = turn
        .then(() => work(run))
        .finally(() => {
          clearTimeout(tooLong);
          runs.delete(run);
        });
      runs.set(run, ended);
      return turn.then(() => Promise.race([ended, wait(holdUpMs, undefined, { ref: false })]));
    },
    /** Aborts runs whose lease is lost: another gateway may have restarted them. */
    async renew({ now, until }: { now: Date; until: Date }): Promise<void> {
      const live = [...runs.keys()].filter(isLive);
      const held = live.filter((run) => run.until > now);
      const leases = held.map(({ lease }) => lease);
      // Abort expired leases first: the database may be unavailable.
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
      // Do not wait for a run that ignores its signal.
      await Promise.all([...runs.keys()].map(cut));
    },
  };
}

function isLive({ state }: Run): boolean {
  return state === "waiting" || state === "running";
}

function createCutOffError(): Error {
  return new Error(
    `The run was aborted: it took over ${runMsMax / 60_000} minutes, or its gateway was blocked, ` +
      "lost the database or was closed. It will be repeated.",
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
