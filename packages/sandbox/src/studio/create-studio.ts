import { createHash } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../../../src/providers/adapter.ts";
import { ProviderError } from "../../../../src/providers/contract.ts";
import type { GenerationInput, GenerationRequest } from "../../../../src/providers/generation.ts";
import { createFifoSemaphore, type FifoSemaphore } from "./fifo-semaphore.ts";
import { runStudioJob } from "./run-studio-job.ts";
import { openStudioFolder, type StudioFolder } from "./studio-folder.ts";
import type { StudioReport } from "./studio-order.ts";

export type StudioParts = {
  /** The working folder; several processes may share it. */
  folder: string;
  clock: Clock;
  /** The number of concurrent jobs; by default all cores but one, at least two. */
  concurrencyMax?: number;
};

/** The request, and the effects of its script words. */
export type StudioAssignment = {
  request: GenerationRequest;
  inputs: readonly GenerationInput[];
  delayMs: number;
  /** The scripted failure of the job. */
  failure: ProviderError | null;
  isStuck: boolean;
};

type StudioOutput = { type: "image" | "video" | "audio"; path: string };

export type StudioJob = {
  readonly isStarted: boolean;
  /** From 0 to 99, and 100 at the end. */
  readonly progress: number;
  readonly outputs: readonly StudioOutput[];
  /** `null` while it runs. */
  readonly ending: { kind: "done" } | { kind: "canceled" } | { kind: "failed"; error: ProviderError } | null;
  /** All outputs are stored elsewhere, so they can be deleted soon. */
  markCollected(): void;
};

/** Makes media in child processes, a few at a time. Deterministic, so an unknown job is simply started again. */
export type Studio = {
  findJob(id: string): StudioJob | null;
  /** Starts a job, or returns the one with this id. Throws if the queue is full. */
  startJob(id: string, assignment: StudioAssignment): StudioJob;
  /** Stops a job and its process. Finished outputs stay. */
  cancelJob(id: string): Promise<void>;
  /** The cache folder, and a slot among the streamed speech jobs. */
  enterSpeech(signal: AbortSignal): Promise<{ cacheDir: string; leave(): void }>;
  close(): Promise<void>;
};

type OwnJob = {
  job: { -readonly [key in keyof StudioJob]: StudioJob[key] } & { outputs: StudioOutput[] };
  folder: string | null;
  controller: AbortController;
  settled: Promise<void>;
  bytes: number;
  /** By the monotonic clock; `null` while it runs. */
  removeAtMs: number | null;
};

const openJobsMax = 1000;
const endedJobsMax = 500;
const endedBytesMax = 2 * 1024 ** 3;
const keptMs = 15 * 60_000;
const collectedMs = 60_000;
const sweepEveryMs = 30_000;
/** A listener is waiting, so streamed speech has its own queue. */
const speechSlotsPerJob = 4;

class JobCanceled extends Error {}

export function createStudio({
  folder,
  clock,
  // The processes have a low priority, so two of them leave enough for the gateway on any machine.
  concurrencyMax = Math.max(2, availableParallelism() - 1),
}: StudioParts): Studio {
  const jobs = new Map<string, OwnJob>();
  const jobSlots = createFifoSemaphore(concurrencyMax);
  const speechSlots = createFifoSemaphore(concurrencyMax * speechSlotsPerJob);
  let opened: Promise<StudioFolder> | null = null;
  const open = (): Promise<StudioFolder> => {
    opened ??= openStudioFolder(folder, clock).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  const sweeper = setInterval(() => sweep(jobs, clock), sweepEveryMs).unref();

  return {
    findJob(id) {
      sweep(jobs, clock);
      return jobs.get(id)?.job ?? null;
    },
    startJob(id, assignment) {
      sweep(jobs, clock);
      const known = jobs.get(id);
      if (known !== undefined) return known.job;
      const openCount = [...jobs.values()].filter(({ job }) => job.ending === null).length;
      if (openCount >= openJobsMax)
        throw new ProviderError("overloaded", "The studio's queue is full.", { retryAfterMs: 5000 });
      const own = createJob(clock);
      jobs.set(id, own);
      own.settled = work(own, id, assignment, { jobSlots, open }).finally(() => {
        own.removeAtMs = clock.monotonicMs() + keptMs;
      });
      return own.job;
    },
    async cancelJob(id) {
      const own = jobs.get(id);
      own?.controller.abort(new JobCanceled());
      await own?.settled;
    },
    async enterSpeech(signal) {
      const leave = await speechSlots.acquire(signal);
      try {
        return { cacheDir: (await open()).cacheDir, leave };
      } catch (error) {
        leave();
        throw error;
      }
    },
    async close() {
      clearInterval(sweeper);
      for (const { controller } of jobs.values()) controller.abort(new JobCanceled());
      await Promise.all([...jobs.values()].map(({ settled }) => settled));
      jobs.clear();
      if (opened !== null) await rm((await opened).jobsDir, { recursive: true, force: true });
    },
  };
}

function createJob(clock: Clock): OwnJob {
  const own: OwnJob = {
    job: {
      isStarted: false,
      progress: 0,
      outputs: [],
      ending: null,
      markCollected() {
        if (own.removeAtMs !== null) own.removeAtMs = Math.min(own.removeAtMs, clock.monotonicMs() + collectedMs);
      },
    },
    folder: null,
    controller: new AbortController(),
    settled: Promise.resolve(),
    bytes: 0,
    removeAtMs: null,
  };
  return own;
}

type JobContext = { jobSlots: FifoSemaphore; open(): Promise<StudioFolder> };

async function work(
  own: OwnJob,
  id: string,
  assignment: StudioAssignment,
  { jobSlots, open }: JobContext,
): Promise<void> {
  const { job, controller } = own;
  const { signal } = controller;
  try {
    if (assignment.delayMs > 0) await wait(assignment.delayMs, null, { signal, ref: false });
    if (assignment.failure !== null) throw assignment.failure;
    if (assignment.isStuck) {
      job.isStarted = true;
      await untilAborted(signal);
    }
    const leave = await jobSlots.acquire(signal);
    try {
      const { jobsDir, cacheDir } = await open();
      const folder = join(jobsDir, createHash("sha256").update(id).digest("hex").slice(0, 32));
      own.folder = folder;
      job.isStarted = true;
      await runStudioJob({ ...assignment, folder, cacheDir, signal, onReport: (report) => note(own, folder, report) });
    } finally {
      leave();
    }
    job.progress = 100;
    job.ending = { kind: "done" };
  } catch (error) {
    job.ending = signal.aborted ? { kind: "canceled" } : { kind: "failed", error: asProviderError(error) };
  }
  own.bytes = await measure(job.outputs);
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason), { once: true }));
}

function note({ job }: OwnJob, folder: string, report: StudioReport): void {
  if (report.kind === "progress") job.progress = Math.max(job.progress, Math.min(99, report.percent));
  if (report.kind === "output") job.outputs.push({ type: report.type, path: join(folder, report.name) });
}

function asProviderError(error: unknown): ProviderError {
  return error instanceof ProviderError
    ? error
    : new ProviderError("unreachable", "The studio process could not start.", { cause: error });
}

async function measure(outputs: readonly StudioOutput[]): Promise<number> {
  const sizes = await Promise.all(
    outputs.map(({ path }) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Deletes finished jobs: after their time, and the oldest first if there are too many. */
function sweep(jobs: Map<string, OwnJob>, clock: Clock): void {
  const now = clock.monotonicMs();
  const ended = [...jobs].filter(([, { removeAtMs }]) => removeAtMs !== null);
  let count = ended.length;
  let bytes = ended.reduce((sum, [, own]) => sum + own.bytes, 0);
  for (const [id, own] of ended) {
    const isDue = own.removeAtMs !== null && own.removeAtMs <= now;
    if (!isDue && count <= endedJobsMax && bytes <= endedBytesMax) continue;
    jobs.delete(id);
    count -= 1;
    bytes -= own.bytes;
    // An open file stays readable until it is closed.
    if (own.folder !== null) void rm(own.folder, { recursive: true, force: true }).catch(() => {});
  }
}
