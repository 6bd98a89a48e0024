import { createSemaphore } from "../../lib/semaphore.ts";
import type { AccountChanges } from "../../platform/database/account-changes.ts";
import type { ChangeFeed } from "../../platform/database/change-feed.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import { createMetrics } from "../../platform/observability/metrics.ts";
import { releaseHold } from "../ledger/index.ts";
import type { Quotable, Quotes } from "../quotes/index.ts";
import { findTaskCost } from "./find-task-cost.ts";
import { createHookAddresses } from "./hook-address.ts";
import { createFalKeys } from "./hooks/fal-keys.ts";
import { createHookLimit } from "./hooks/hook-limit.ts";
import { addHookRoutes } from "./hooks/hook-routes.ts";
import { cancelTask, createCancelCheck } from "./read/cancel-task.ts";
import type { PresentComposite } from "./read/present-request.ts";
import { addTaskRoutes } from "./read/task-routes.ts";
import { createTaskWatch, type TaskWatch } from "./read/watch-tasks.ts";
import {
  addGenerationRoutes,
  createTaskQuotes,
  listMediaQuotables,
  type QuoteTask,
  type ReplaySubmission,
  replaySubmission,
  type SubmissionRouteDependencies,
  type SubmitTask,
  submitTask,
} from "./submit/generation-routes.ts";
import { addImageEditRoutes } from "./submit/image-edit-routes.ts";
import { type PrepareMedia, prepareMedia } from "./submit/prepare-media.ts";
import { createSubmissionWriter } from "./submit/write-submissions.ts";
import { isFinal, type Task, type TaskOutput } from "./task.ts";
import { notifyChanges, notifyDue } from "./task-store.ts";
import type { Orchestrate } from "./work/orchestrate-task.ts";
import { startTaskWorker, type TaskWorker } from "./work/task-worker.ts";
import { createWakeUps } from "./work/wake-workers.ts";
import type { WorkerDependencies } from "./work/worker-dependencies.ts";

export type Tasks = {
  addRoutes(v1: HttpServer): void;
  quotables: readonly Quotable[];
  /** Quotes a request for a task. */
  quote: QuoteTask;
  /** Cancels a task of any account, by the rules of its owner. `record` is called in the transaction of a change. */
  cancel(asked: { id: string; record(tx: Database, task: Task): Promise<void> }): Promise<Task>;
  /** Where vendors call back. */
  addHookRoutes(http: HttpServer): Promise<void>;
  /** Creates a composite task from a request and sends the response. */
  submit: SubmitTask;
  /** Prepares the task of a media request that `check` has validated. */
  prepareMedia: PrepareMedia;
  /** Answers a repeated `Idempotency-Key` with the task it created. Returns false if the key belongs to no task. */
  replay: ReplaySubmission;
  /** Starts the worker; `orchestrate` advances composite tasks. */
  startWorking(orchestrate: Orchestrate): void;
  /** Stops claiming tasks; running steps have until `closeTimeoutMs` from now. */
  stopWorking(): void;
  /** Waits for running steps; tasks whose steps take longer go to other nodes. */
  close(): Promise<void>;
};

type TasksDependencies = Pick<
  WorkerDependencies,
  "database" | "clock" | "ids" | "logger" | "catalog" | "registry" | "health" | "files" | "guarded" | "random"
> & {
  metrics?: WorkerDependencies["metrics"];
  failpoint?: WorkerDependencies["failpoint"];
  tracing?: WorkerDependencies["tracing"];
  feed: ChangeFeed;
  /** Notifies open console pages which of the account's data to reload. */
  changes?: Pick<AccountChanges, "announce">;
  presentComposite: PresentComposite;
  quotes: Pick<Quotes, "open">;
  baseUrl: string;
  currency: string;
  siteUrl?: string;
  /** The key of the addresses at which vendors call back. */
  hookKey: Buffer;
  /** Whether callbacks may go to private and loopback addresses. */
  allowsPrivate: boolean;
  keyValidityMs: number;
  heartbeatMs: number;
  closeTimeoutMs: number;
  /** How many task steps this process runs concurrently. */
  stepsMax: number;
  /** The size of this process's connection pool. */
  connectionsMax: number;
  /** How many days tasks are kept; 0 keeps them forever. */
  keptDays?: number;
};

export function createTasks(dependencies: TasksDependencies): Tasks {
  const { database, clock, ids, logger, feed, catalog, registry, health, files, guarded } = dependencies;
  const { currency, baseUrl, keyValidityMs, random, presentComposite, failpoint = () => {} } = dependencies;
  const { metrics = createMetrics(), tracing = null, changes = { announce() {} }, keptDays = 0 } = dependencies;
  const heartbeats = createHeartbeats(dependencies.heartbeatMs);
  const onTrouble = (error: unknown): void => logger.warn({ error }, "task queue error");
  const watch = createTaskWatch({ feed, notify: (versions) => notifyChanges(database, versions), onTrouble });
  const announce = createAnnouncement(watch, changes);
  const wakeUps = createWakeUps({ feed, notify: () => notifyDue(database), onTrouble });
  // Half of the pool, so that other queries still get a connection.
  const endings = createSemaphore(Math.floor(dependencies.connectionsMax / 2) - 1);
  const transitions = {
    database,
    clock,
    ids,
    logger,
    metrics,
    watch: { announce },
    endings,
    wakeWorkers: wakeUps.wake,
    failpoint,
    findCost: (task: Task, output: readonly TaskOutput[]) => findTaskCost(catalog.current(), task, output),
  };
  const writer = createSubmissionWriter({
    ...{ database, clock, currency, keyValidityMs, tracing, begin: wakeUps.begin },
    ...(dependencies.siteUrl === undefined ? {} : { siteUrl: dependencies.siteUrl }),
    onCreated(accountId) {
      changes.announce(accountId, "tasks");
      changes.announce(accountId, "balance");
    },
  });
  const submissions = {
    ...{ database, clock, ids, catalog, failpoint, writer, watch, files, baseUrl },
    quotes: dependencies.quotes,
    allowsPrivate: dependencies.allowsPrivate,
    claims: {
      validityMs: keyValidityMs,
      liveForMs: feed.liveForMs,
      releaseHold: async (tx: Database, hold: Parameters<typeof releaseHold>[1]) =>
        void (await releaseHold(tx, hold, clock.now())),
    },
  };
  const submit: SubmitTask = (request, reply, way) => submitTask(submissions, { request, reply, way });
  const making: SubmissionRouteDependencies = {
    submit,
    prepareMedia: (check) => prepareMedia({ files, catalog, registry }, check),
  };
  const isCancelable = createCancelCheck({ catalog, registry });
  const quote = createTaskQuotes(submissions);
  const hooks = createHookAddresses({ key: dependencies.hookKey, siteUrl: dependencies.siteUrl });
  const readFalKeys = createFalKeys({ guarded, clock });
  const isOverLimit = createHookLimit({ clock });
  let worker: TaskWorker | null = null;
  return {
    quote,
    quotables: listMediaQuotables({ quote, prepareMedia: making.prepareMedia }),
    addRoutes(v1) {
      addGenerationRoutes(v1, making);
      addImageEditRoutes(v1, { ...making, files });
      addTaskRoutes(v1, { ...transitions, watch, files, heartbeats, isCancelable, presentComposite, keptDays });
    },
    cancel: (asked) => cancelTask({ ...transitions, isCancelable }, asked),
    addHookRoutes: (http) =>
      addHookRoutes(http, { ...transitions, catalog, registry, addresses: hooks, readFalKeys, isOverLimit }),
    ...making,
    replay: (kept, reply) => replaySubmission({ database, clock, files, baseUrl }, kept, reply),
    startWorking(orchestrate) {
      const { stepsMax, closeTimeoutMs } = dependencies;
      const upstreams = { files, guarded, catalog, registry, health, random, hooks };
      worker = startTaskWorker({ ...transitions, ...upstreams, orchestrate, stepsMax, closeTimeoutMs, tracing });
      wakeUps.attach(worker);
    },
    stopWorking: () => void worker?.stop(),
    async close() {
      heartbeats.close();
      await worker?.close();
      await writer.drain();
      await wakeUps.drain();
      await watch.drain();
    },
  };
}

/**
 * Wakes clients that wait for the task and refreshes the console; a final state also changes the balance and deliveries.
 */
function createAnnouncement(watch: TaskWatch, changes: Pick<AccountChanges, "announce">) {
  return (task: Task): void => {
    watch.announce(task);
    changes.announce(task.accountId, "tasks");
    if (!isFinal(task.state)) return;
    changes.announce(task.accountId, "balance");
    changes.announce(task.accountId, "deliveries");
  };
}
