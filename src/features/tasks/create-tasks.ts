import { createTurnstile } from "../../lib/turnstile.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { ChangeFeed } from "../../platform/database/change-feed.ts";
import type { Database, DatabaseAddress } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import { createJobQueue } from "../../platform/jobs/job-queue.ts";
import type { Calls } from "../calls/index.ts";
import { releaseHold } from "../ledger/index.ts";
import { createCancelCheck } from "./cancel-task.ts";
import type { Direct } from "./direct-task.ts";
import { addGenerationRoutes, type GenerationRouteParts, type SubmitTask, submit } from "./generation-routes.ts";
import { addImageEditRoutes } from "./image-edit-routes.ts";
import type { PresentDirected } from "./present-request.ts";
import { addSpeechRoutes } from "./speech-routes.ts";
import type { TaskParts, TaskPoint } from "./task-parts.ts";
import { addTaskRoutes } from "./task-routes.ts";
import { notifyChanges } from "./task-store.ts";
import { createTaskWorker, type TaskWorker } from "./task-worker.ts";
import { createTaskWatch, type TaskVersion } from "./watch-tasks.ts";
import { createSubmissionWriter } from "./write-submissions.ts";

export type Tasks = {
  addRoutes(v1: HttpServer): void;
  /** Connects to what new tasks are sent to. */
  open(): Promise<void>;
  /** Makes a task of a request for something that is made of tasks, and answers it. */
  submit: SubmitTask;
  /** Begins to take tasks further; `direct` knows what some are made of. */
  startWorking(direct: Direct): Promise<void>;
  /** No more tasks are taken; those in hand are let go of. Readers that wait are answered. */
  close(): Promise<void>;
};

type TaskMakings = Omit<TaskParts, "watch" | "wake" | "reach" | "takeTurn"> & {
  address: DatabaseAddress;
  feed: ChangeFeed;
  counters: Counters;
  /** What answers while one waits: speech. */
  calls: Calls;
  reach?(point: TaskPoint): void;
  presentDirected: PresentDirected;
  settings: {
    base_url: string;
    currency: string;
    sandbox: "on" | "off";
    idempotency_hours: number;
    stream_heartbeat_ms: number;
    shutdown_timeout_ms: number;
    worker_steps_max: number;
    database_connections: number;
  };
};

const hourMs = 60 * 60 * 1000;

export function createTasks(makings: TaskMakings): Tasks {
  const { clock, database, logger, settings, address } = makings;
  const heartbeats = createHeartbeats(settings.stream_heartbeat_ms);
  const onTrouble = (error: unknown): void => logger.warn({ error }, "tasks met trouble");
  const queue = createJobQueue({ address, name: "advance-tasks", onTrouble });
  const reach = makings.reach ?? (() => {});
  const tell = (changes: readonly TaskVersion[]): Promise<void> => notifyChanges(database, changes);
  const watch = createTaskWatch({ feed: makings.feed, tell, onTrouble });
  const stepsMax = settings.worker_steps_max;
  const closeTimeoutMs = settings.shutdown_timeout_ms;
  const takeTurn = createTurnstile(Math.ceil(settings.database_connections / 2)).pass;
  let worker: TaskWorker | null = null;
  const workerParts = { ...makings, watch, reach, takeTurn, queue, stepsMax, closeTimeoutMs };
  const sendJobs = async (tx: Database, tasks: readonly { id: string }[]): Promise<void> => {
    await queue.send(tx, { taskIds: tasks.map(({ id }) => id) });
  };
  const keyValidityMs = settings.idempotency_hours * hourMs;
  const parts: GenerationRouteParts = {
    ...makings,
    watch,
    reach,
    takeTurn,
    wake: () => worker?.wake(),
    heartbeats,
    sendJobs,
    requireCancelable: createCancelCheck(makings),
    baseUrl: settings.base_url,
    allowsPrivate: settings.sandbox === "on",
    writer: createSubmissionWriter({ database, clock, currency: settings.currency, keyValidityMs, sendJobs }),
    claims: {
      validityMs: keyValidityMs,
      releaseHold: async (tx, hold) => void (await releaseHold(tx, hold, clock.now())),
    },
  };
  return {
    addRoutes(v1) {
      addGenerationRoutes(v1, parts);
      addImageEditRoutes(v1, parts);
      addSpeechRoutes(v1, parts, makings.calls);
      addTaskRoutes(v1, parts);
    },
    open: () => queue.open(),
    submit: (request, reply, way) => submit(parts, { request, reply, ...way }),
    async startWorking(direct) {
      worker = createTaskWorker({ ...workerParts, direct });
      await worker.start();
    },
    async close() {
      heartbeats.close();
      await worker?.close();
      await parts.writer.drain();
      await watch.drain();
      await queue.close();
    },
  };
}
