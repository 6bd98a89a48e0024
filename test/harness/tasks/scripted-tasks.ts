import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { stringify } from "yaml";
import { openFiles } from "../../../src/app/open-files.ts";
import { applyCatalog, getOfferedModel, openLiveCatalog } from "../../../src/features/catalog/index.ts";
import { bookCredit, findViolations } from "../../../src/features/ledger/index.ts";
import { claimTasks } from "../../../src/features/tasks/lease-store.ts";
import { priceTask, quoteTask } from "../../../src/features/tasks/quote-task.ts";
import { cancelTask } from "../../../src/features/tasks/read/cancel-task.ts";
import { createTaskWatch, type TaskWatch } from "../../../src/features/tasks/read/watch-tasks.ts";
import {
  createSubmissionWriter,
  type SubmissionOutcome,
} from "../../../src/features/tasks/submit/write-submissions.ts";
import type { ClaimedTask, Task } from "../../../src/features/tasks/task.ts";
import { findTask } from "../../../src/features/tasks/task-store.ts";
import { advanceTask } from "../../../src/features/tasks/work/advance-task.ts";
import { leaseMs } from "../../../src/features/tasks/work/hold-leases.ts";
import type { WorkerDependencies } from "../../../src/features/tasks/work/worker-dependencies.ts";
import { type AccountId, createIdSource, type KeyId, type TaskId } from "../../../src/lib/ids.ts";
import { standardLimits } from "../../../src/lib/limit-set.ts";
import { nano } from "../../../src/lib/money.ts";
import { loadSettings } from "../../../src/platform/config/load-settings.ts";
import { openMasterKey } from "../../../src/platform/config/master-key.ts";
import { createMemoryCounters } from "../../../src/platform/counters/memory-counters.ts";
import { openChangeFeed } from "../../../src/platform/database/change-feed.ts";
import { createDatabase } from "../../../src/platform/database/database.ts";
import { createGuardedClient } from "../../../src/platform/net/guarded-client.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import { createMetrics } from "../../../src/platform/observability/metrics.ts";
import type { GenerationProvider, GenerationTraits, MadeOutput } from "../../../src/providers/generation.ts";
import type { ProviderDefinition } from "../../../src/providers/provider-definition.ts";
import { createUpstreamHealth } from "../../../src/providers/upstream-health.ts";
import { dataParent } from "../data-parent.ts";
import { createAccounts } from "../ledger/ledger-process.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { createTestDatabase } from "../test-database.ts";
import { makePicture } from "../upstreams/media-samples.ts";
import { findFileViolations, findTaskViolations } from "./check-tasks.ts";

/** An upstream in memory that follows a test's script, and counts its calls. */
type ScriptedProvider = Pick<GenerationProvider, "submit" | "poll" | "cancel" | "find"> & {
  traits: GenerationTraits;
  /** The ids of the submitted tasks, in order. */
  submitted: string[];
};

type ScriptedDependencies = WorkerDependencies & { watch: TaskWatch };

export type ScriptedTasks = AsyncDisposable & {
  parts: ScriptedDependencies;
  clock: TestClock;
  upstream: ScriptedProvider;
  accountId: AccountId;
  logs: Record<string, unknown>[];
  /** A new task for two images, as the HTTP layer would submit it. */
  submit(options?: SubmitOptions): Promise<TaskId>;
  trySubmit(options?: SubmitOptions): Promise<{ id: TaskId; outcome: SubmissionOutcome }>;
  /** Claims a task as a worker does; `null` if another worker has it. */
  claim(taskId: TaskId): Promise<ClaimedTask | null>;
  advance(task: ClaimedTask): Promise<Date | null>;
  /** Claims a task and runs one step, whether or not it is due. */
  step(taskId: TaskId): Promise<Date | null>;
  cancel(taskId: TaskId): Promise<Task>;
  read(taskId: TaskId): Promise<Task>;
  /** Makes a task due, as if its worker had died. */
  makeDue(taskId: TaskId): Promise<void>;
  /** Violations of the ledger's and the tasks' invariants. */
  findWrongs(): Promise<string[]>;
};

/** The provider's fields in the catalog that differ from a provider with one key and no limits. */
type ProviderFields = Pick<ProviderDefinition, "tasks_max" | "tasks_per_minute" | "task_limits_per" | "api_keys">;

type SubmitOptions = {
  account?: "first" | "second";
  count?: number;
  lifeMs?: number;
  key?: string;
  tasksInFlight?: number;
};

const keyName = "SCRIPTED_KEY";
const lifeMsUsual = 3_600_000;
const cash = nano(1_000_000_000_000n);

/** Images as an upstream delivers them. */
export async function makeOutputs(count: number): Promise<MadeOutput[]> {
  const pictures = await Promise.all(
    Array.from({ length: count }, (_, index) => makePicture({ width: 8, height: 8 }, index)),
  );
  return pictures.map(({ bytes }) => ({ type: "image", open: async () => Readable.from([bytes]) }));
}

/**
 * All dependencies of tasks, on a real database with a frozen clock, but without a worker: a test runs each step
 * itself, in any order, at any time.
 */
export async function openScriptedTasks(provider: ProviderFields = {}): Promise<ScriptedTasks> {
  const upstream = createScriptedProvider();
  const { parts, clock, logs, dataDir, close } = await openParts(upstream, provider);
  const { database, ids } = parts;
  const [accountId = "acct_none", secondId = accountId] = await createAccounts(database, ["scripted", "other"]);
  const booking = { kind: "top-up", amount: cash } as const;
  for (const id of [accountId, secondId]) {
    const credit = { accountId: id, booking, actor: "test", reason: "test", reference: null };
    await bookCredit({ database, clock, ids }, credit);
  }
  const submitters = {
    first: createSubmitter(parts, { clock, accountId, keyId: ids.next("key") }),
    second: createSubmitter(parts, { clock, accountId: secondId, keyId: ids.next("key") }),
  };
  const trySubmit: ScriptedTasks["trySubmit"] = (options = {}) => submitters[options.account ?? "first"](options);

  async function claim(taskId: TaskId): Promise<ClaimedTask | null> {
    const now = clock.now();
    const time = { now, until: new Date(now.getTime() + leaseMs) };
    return (await claimTasks(database, [taskId], time)).tasks[0] ?? null;
  }

  async function makeDue(taskId: TaskId): Promise<void> {
    const due = { next_poll_at: clock.now() };
    await database.updateTable("task_leases").set(due).where("task_id", "=", taskId).execute();
  }

  const advance = (task: ClaimedTask) => advanceTask(parts, task, new AbortController().signal);
  return {
    ...{ parts, clock, upstream, accountId, logs, trySubmit, claim, advance, makeDue },
    async submit(options) {
      const { id, outcome } = await trySubmit(options);
      if (outcome.kind !== "created") throw new Error(`A submission was ${outcome.kind}.`);
      return id;
    },
    async step(taskId) {
      await makeDue(taskId);
      const task = await claim(taskId);
      return task === null ? null : await advance(task);
    },
    cancel: (taskId) => cancelTask({ ...parts, isCancelable: () => true }, { id: taskId, accountId }),
    async read(taskId) {
      const task = await findTask(database, taskId);
      if (task === null) throw new Error(`${taskId} is gone.`);
      return task;
    },
    async findWrongs() {
      const wrongs = await findViolations(database, { kind: "whole", accountIds: "all", now: clock.now() });
      return [
        ...wrongs.map((wrong) => JSON.stringify(wrong)),
        ...(await findTaskViolations(database)),
        ...(await findFileViolations(database, dataDir)),
      ];
    },
    [Symbol.asyncDispose]: close,
  };
}

/** The dependencies of task operations, all real except for the upstream. */
async function openParts(upstream: ScriptedProvider, provider: ProviderFields) {
  process.env[keyName] ??= "sk-scripted";
  const testDatabase = await createTestDatabase();
  const address = { connectionString: testDatabase.url };
  const database = createDatabase({ address, connectionsMax: 8, onConnectionError: () => {} });
  const clock = createTestClock(new Date());
  const ids = createIdSource({ clock, randomBytes });
  const logs: Record<string, unknown>[] = [];
  const logger = createLogger({ level: "warn", format: "json", write: (line) => logs.push(JSON.parse(line)) });
  const dataDir = mkdtempSync(join(dataParent, "sluice-scripted-"));
  const settings = { ...loadSettings({ environment: {}, directory: tmpdir() }), data_dir: dataDir };
  const none = { planIds: new Set<string>(), accountIds: new Set<string>() };
  const surroundings = { currency: "USD", ...none, hasSecret: () => true, findPackageFault: () => null };
  await applyCatalog({ database, clock, ids, surroundings }, writeCatalog(provider));
  const feed = await openChangeFeed({ address, channels: ["catalog", "tasks", "tasks_due"], onTrouble: () => {} });
  const health = createUpstreamHealth({ clock });
  const catalog = await openLiveCatalog({
    ...{ database, clock, feed, health, loadAdapters: async () => {} },
    onTrouble: () => {},
  });
  const counters = createMemoryCounters({ clock });
  const masterKey = await openMasterKey(settings, randomBytes);
  const storage = await openFiles({
    ...{ settings, database, clock, ids, counters, masterKey, logger, feed },
    ...{ copy: { isLive: () => true }, isLead: () => true },
  });
  const guarded = createGuardedClient({ allowsPrivate: false });
  const watch = createTaskWatch({ feed, notify: async () => {}, onTrouble: () => {} });
  const parts: ScriptedDependencies = {
    ...{ database, clock, ids, logger, catalog, health, guarded, watch },
    files: storage.files,
    registry: createRegistry(upstream),
    random: () => 0.5,
    hooks: { find: () => null },
    wakeWorkers: () => {},
    failpoint: () => {},
    endings: { run: (work) => work() },
    metrics: createMetrics(),
    orchestrate: async () => ({ kind: "waiting", until: clock.now() }),
  };
  async function close(): Promise<void> {
    await watch.drain();
    catalog.close();
    await feed.close();
    await guarded.close();
    await storage.close();
    await database.destroy();
    await testDatabase.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return { parts, clock, logs, dataDir, close };
}

function createRegistry(upstream: ScriptedProvider): WorkerDependencies["registry"] {
  const unused = (): never => {
    throw new Error("Tasks have no use for this.");
  };
  // Read at each call: a test may change its capabilities.
  const getGeneration = (): GenerationProvider => ({
    ...upstream,
    findObstacle: () => null,
    async submit(call) {
      upstream.submitted.push(call.taskId);
      return await upstream.submit(call);
    },
    close: async () => {},
  });
  return {
    getGeneration,
    getChat: unused,
    getSpeech: unused,
    getEmbedding: unused,
    getTranscription: unused,
    close: async () => {},
  };
}

function createSubmitter(
  { database, ids, catalog }: ScriptedDependencies,
  { clock, accountId, keyId }: { clock: TestClock; accountId: AccountId; keyId: KeyId },
): ScriptedTasks["trySubmit"] {
  const writing = { database, clock, currency: "USD", keyValidityMs: lifeMsUsual };
  const writer = createSubmissionWriter({ ...writing, begin: () => {} });
  return async ({ count = 2, lifeMs = lifeMsUsual, key, tasksInFlight = standardLimits.tasksInFlight } = {}) => {
    const accountLimits = { ...standardLimits, tasksInFlight };
    const caller = {
      ...{ accountId, keyId, lineageId: keyId, planId: null, modelIds: null, budget: null },
      ...{ accountLimits, keyLimits: {}, logsContent: false },
    };
    const [price] = getOfferedModel(catalog.current(), "image", caller, clock.now()).prices;
    if (price === undefined) throw new Error("The model has no price.");
    const request = { type: "image", prompt: "a", width: 8, height: 8, count } as const;
    const terms = quoteTask(price, { request, inputImages: 0, audioSeconds: null, budgetAmount: null });
    // One millisecond each, so that the order of ids is the order of submissions.
    clock.advance(1);
    const now = clock.now();
    const id = ids.next("task");
    const outcome = await writer.submit({
      caller,
      held: priceTask(terms),
      order: null,
      keyed: key === undefined ? null : { key, fingerprint: Buffer.alloc(32) },
      task: {
        ...{
          id,
          accountId,
          keyId,
          parentId: null,
          type: "image",
          model: "image",
          request,
          inputs: [],
          steps: [],
          terms,
        },
        holdId: ids.next("hold"),
        outputIds: Array.from({ length: count }, () => ids.next("file")),
        ...{ metadata: null, callbackUrl: null, requestId: ids.next("req"), clientRequestId: null },
        ...{ deadlineAt: new Date(now.getTime() + lifeMs), createdAt: now },
      },
    });
    return { id, outcome };
  };
}

/** Accepts everything, and never finishes. */
function createScriptedProvider(): ScriptedProvider {
  return {
    traits: { isRepeatable: false, keepsWork: true, cancels: "always", pollMsMin: 1000, pollMsMax: 10_000 },
    submitted: [],
    submit: async ({ taskId }) => ({ kind: "accepted", handle: { id: taskId } }),
    poll: async () => ({ kind: "running", isStarted: true, progress: null }),
    cancel: async () => "canceled",
  };
}

function writeCatalog(provider: ProviderFields): string {
  return stringify({
    currency: "USD",
    providers: [{ id: "fal", kind: "fal", api_keys: [`\${${keyName}}`], ...provider }],
    models: [
      {
        ...{ id: "image", name: "image", type: "image", capabilities: ["text_to_image"] },
        limits: { sizes: ["64x64"], max_n: 4 },
        routes: [
          { provider: "fal", upstream_model: "one/model" },
          { provider: "fal", upstream_model: "two/model" },
        ],
      },
    ],
    prices: [{ model: "image", billing_type: "per_call", unit: "image", price: "0.04" }],
  });
}
