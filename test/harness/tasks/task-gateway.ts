import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bookCredit, findViolations, readBalance } from "../../../src/features/ledger/index.ts";
import type { TaskState } from "../../../src/features/tasks/task.ts";
import { parseMoney, presentMoney } from "../../../src/lib/money.ts";
import type { Settings } from "../../../src/platform/config/load-settings.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { upstreamKeyName } from "../chat/chat-catalog.ts";
import { dataParent } from "../data-parent.ts";
import { type Charge, type HoldRow, listCharges, listHolds } from "../ledger/read-chat-ledger.ts";
import { createTestDatabase } from "../test-database.ts";
import { startGateway, type TestGateway } from "../test-gateway.ts";
import { type FakeUpstreams, findCanary, startFakeUpstreams } from "../upstreams/fake-upstreams.ts";
import type { MediaFakes } from "../upstreams/media-fakes.ts";
import { waitUntil } from "../wait-until.ts";
import { findFileViolations, findTaskViolations } from "./check-tasks.ts";
import { writeTaskCatalog } from "./task-catalog.ts";

type CallerOptions = NonNullable<Parameters<TestGateway["createCaller"]>[0]>;

/** A task as a caller sees it. */
export type SeenTask = {
  id: string;
  status: TaskState;
  progress: number;
  output: { type: string; file_id: string; url: string; content_type: string; bytes: number; sha256: string }[];
  usage: { total_units: number; charge?: string; estimated_charge: string };
  error?: { code: string; message: string; param: string | null; retryable: boolean };
  queue_position?: number;
};

type CallInit = { headers?: Record<string, string>; signal?: AbortSignal; gateway?: TestGateway };

export type TaskCaller = Awaited<ReturnType<TestGateway["createCaller"]>> & {
  /** A raw POST; `path` such as `/images/generations`. */
  post(path: string, body: unknown, init?: CallInit): Promise<Response>;
  get(path: string, init?: CallInit): Promise<Response>;
  /** Submits and expects a task. */
  submit(path: string, body: Record<string, unknown>, init?: CallInit): Promise<SeenTask>;
  /** One image of the model, by its prompt. */
  submitImage(model: string, prompt: string, init?: CallInit): Promise<SeenTask>;
  readTask(id: string): Promise<SeenTask>;
  /** Resolves when the task is in one of these states; in any final one by default. */
  awaitTask(id: string, states?: readonly TaskState[], timeoutMs?: number): Promise<SeenTask>;
  cancel(id: string): Promise<Response>;
  readBalance(): Promise<{ available: string; frozen: string }>;
  listCharges(): Promise<Charge[]>;
  listHolds(): Promise<HoldRow[]>;
  listEvents(): Promise<{ id: string; type: string; data: Record<string, unknown> }[]>;
};

export type TaskGateway = AsyncDisposable & {
  gateway: TestGateway;
  upstream: FakeUpstreams;
  media: MediaFakes;
  database: Database;
  dataDir: string;
  /** Another gateway on the same database and files. The caller closes it. */
  startAnother(settings?: Partial<Settings>): Promise<TestGateway>;
  /** A new account with money (10.00 by default) and a key. */
  createCaller(options?: CallerOptions & { cash?: string }): Promise<TaskCaller>;
  /** Like `fetch`, but records everything that a customer sees. */
  fetch: typeof fetch;
  /** Applies a catalog, and waits until the gateway serves it. */
  applyCatalog(source: string): Promise<void>;
  /** The leases of the open tasks. */
  listLeases(): Promise<{ task_id: string; next_poll_at: Date; fencing_token: number; polls: number }[]>;
};

type TaskGatewayOptions = Pick<
  NonNullable<Parameters<typeof startGateway>[0]>,
  "clock" | "settings" | "sharedDatabase"
> & {
  catalog?: (upstream: FakeUpstreams) => string;
};

const finalStates = ["succeeded", "failed", "canceled", "expired"] as const;

/**
 * A gateway whose tasks are done by fake vendors. When it is closed, the ledger and all tasks are checked, and everything
 * that customers saw is searched for the vendors' canary word: a test that leaks, or leaves anything wrong, fails.
 */
export async function openTaskGateway(options: TaskGatewayOptions = {}): Promise<TaskGateway> {
  const { catalog = writeTaskCatalog, clock, settings } = options;
  process.env[upstreamKeyName] ??= "sk-fake-upstream";
  const upstream = await startFakeUpstreams();
  const testDatabase = options.sharedDatabase ?? (await createTestDatabase());
  const dataDir = mkdtempSync(join(dataParent, "sluice-tasks-"));
  const startOne = (more: Partial<Settings> = {}) =>
    startGateway({
      sharedDatabase: testDatabase,
      settings: { data_dir: dataDir, ...settings, ...more },
      ...(clock === undefined ? {} : { clock }),
    });
  const gateway = await startOne();
  const { database } = gateway;
  const seen: string[] = [];
  const watchedFetch = watchFetch(seen);

  async function applyCatalog(source: string): Promise<void> {
    const outcome = await gateway.applyCatalog(source);
    if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems, null, 2));
    await waitUntil("the catalog to be served", () => gateway.catalogVersion() === outcome.version);
  }

  await applyCatalog(catalog(upstream));
  return {
    gateway,
    upstream,
    media: upstream.media,
    database,
    dataDir,
    applyCatalog,
    fetch: watchedFetch,
    async startAnother(more) {
      const another = await startOne(more);
      await waitUntil("the catalog there", () => another.catalogVersion() === gateway.catalogVersion());
      return another;
    },
    createCaller: (callerOptions = {}) => createTaskCaller(gateway, watchedFetch, callerOptions),
    listLeases: () => database.selectFrom("task_leases").selectAll().orderBy("task_id").execute(),
    async [Symbol.asyncDispose]() {
      const now = gateway.parts.clock.now();
      const violations = [
        ...(await findViolations(database, { kind: "whole", accountIds: "all", now })),
        ...(await findTaskViolations(database)),
        ...(await findFileViolations(database, dataDir)),
      ];
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      if (options.sharedDatabase === undefined) await testDatabase.close();
      rmSync(dataDir, { recursive: true, force: true });
      const leak = findCanary(seen.join("\n"));
      if (leak !== null) throw new Error(`A customer saw something of the upstream: …${leak}…`);
      if (violations.length > 0) throw new Error(`Something is wrong: ${JSON.stringify(violations, null, 2)}`);
    },
  };
}

const textPattern = /json|text|event-stream/;

/** Records the answer while it is read, without reading ahead. Of media only the head. */
function watchFetch(seen: string[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    seen.push([...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n"));
    if (response.body === null || !textPattern.test(response.headers.get("content-type") ?? "")) return response;
    const decoder = new TextDecoder();
    const look = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen.push(decoder.decode(chunk, { stream: true }));
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(look), response);
  };
}

async function createTaskCaller(
  first: TestGateway,
  watchedFetch: typeof fetch,
  { cash = "10", ...callerOptions }: CallerOptions & { cash?: string },
): Promise<TaskCaller> {
  const caller = await first.createCaller(callerOptions);
  const { accountId, key } = caller;
  const { database, parts } = first;
  const amount = parseMoney(cash);
  if (amount === null) throw new Error(`${cash} is no amount.`);
  if (amount > 0n) {
    const booking = { kind: "top-up", amount } as const;
    await bookCredit(parts, { accountId, booking, actor: "test", reason: "test", reference: null });
  }

  function send(method: string, path: string, body: unknown, { headers = {}, signal, gateway = first }: CallInit = {}) {
    return watchedFetch(`${gateway.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async function submit(path: string, body: Record<string, unknown>, init?: CallInit): Promise<SeenTask> {
    const response = await send("POST", path, body, init);
    const text = await response.text();
    if (response.status !== 202) throw new Error(`A submission was answered with ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  async function readTask(id: string): Promise<SeenTask> {
    const response = await send("GET", `/tasks/${id}`, undefined);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`A task was answered with ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  return {
    ...caller,
    post: (path, body, init) => send("POST", path, body, init),
    get: (path, init) => send("GET", path, undefined, init),
    submit,
    submitImage: (model, prompt, init) => submit("/images/generations", { model, prompt, size: "64x64" }, init),
    readTask,
    async awaitTask(id, states = finalStates, timeoutMs = 120_000) {
      // From the database, to save the caller's rate limit for reads.
      const look = async (): Promise<boolean> => {
        const row = await database.selectFrom("tasks").select("state").where("id", "=", id).executeTakeFirst();
        return states.some((state) => state === row?.state);
      };
      await waitUntil(`${id} to be ${states.join(" or ")}`, look, timeoutMs);
      return await readTask(id);
    },
    cancel: (id) => send("POST", `/tasks/${id}/cancel`, undefined),
    async readBalance() {
      const { balance } = await readBalance(database, accountId, parts.clock.now());
      return { available: presentMoney(balance.available), frozen: presentMoney(balance.frozen) };
    },
    listCharges: () => listCharges(database, accountId),
    listHolds: () => listHolds(database, accountId),
    async listEvents() {
      const query = database.selectFrom("events").select(["id", "type", "data"]).where("account_id", "=", accountId);
      const rows = await query.orderBy("id").execute();
      return rows.map(({ id, type, data }) => ({ id, type, data: data as Record<string, unknown> }));
    },
  };
}
