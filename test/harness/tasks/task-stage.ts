import { sql } from "kysely";
import OpenAI from "openai";
import { canary, type FakeUpstreams } from "../upstreams/fake-upstreams.ts";
import { waitUntil } from "../wait-until.ts";
import { findFileViolations, findTaskViolations } from "./check-tasks.ts";
import { writeTaskCatalog, writeTaskPrice } from "./task-catalog.ts";
import { openTaskGateway, type SeenTask, type TaskCaller, type TaskGateway } from "./task-gateway.ts";

type Fields = Record<string, unknown>;

/** A task with all fields that callers may see. */
export type WholeTask = SeenTask & {
  object: string;
  type: string;
  model: string;
  created: number;
  request_id: string;
  updated_at: string;
  warnings?: { code: string; message: string }[];
  metadata?: Record<string, string>;
  client_request_id?: string;
  started_at?: string;
  finished_at?: string;
  expires_at?: string;
  output: { type: string; url: string; width?: number; height?: number; duration?: number; expires_at: string }[];
};

export type StageCaller = Omit<TaskCaller, "readTask" | "awaitTask"> & {
  /** The real SDK, without its own retries. */
  client: OpenAI;
  readTask(id: string): Promise<WholeTask>;
  awaitTask(...asked: Parameters<TaskCaller["awaitTask"]>): Promise<WholeTask>;
  /** Submits, and returns the task when it is over. */
  finish(path: string, body: Fields): Promise<WholeTask>;
  upload(bytes: Buffer): Promise<string>;
  /** The caller's number of rows of each kind that a submission writes. */
  countTraces(): Promise<{ tasks: number; holds: number; events: number; keys: number }>;
};

export type TaskStage = Omit<TaskGateway, "createCaller"> & {
  createCaller(...options: Parameters<TaskGateway["createCaller"]>): Promise<StageCaller>;
  /** Ages a task by this time, and waits until a worker has claimed it since. */
  age(taskId: string, milliseconds?: number): Promise<void>;
  /** Throws if a task violates an invariant. */
  check(): Promise<void>;
  /** Resolves when every task was submitted, so that none takes the script of the next. */
  handedOver(): Promise<void>;
};

type StageOptions = NonNullable<Parameters<typeof openTaskGateway>[0]>;

/** Models in every test catalog that differ from the default ones only in their price. */
const oddModels = {
  stamp: writeTaskPrice("stamp", "call", "0.30"),
  gift: writeTaskPrice("gift", "image", "0"),
  epic: { ...writeTaskPrice("epic", "second", "0.10"), minimum_charge: "0.45" },
};

/** The default catalog with a model priced per call (`stamp`), a free one (`gift`), and one with a minimum (`epic`). */
export function writeStageCatalog(
  upstream: FakeUpstreams,
  more: { models?: readonly Fields[]; prices?: readonly Fields[]; providers?: readonly Fields[] } = {},
): string {
  const { models = [], prices = [], providers = [] } = more;
  return writeTaskCatalog(upstream, {
    models: [
      writePictures("stamp", ["fal"]),
      writePictures("gift", ["fal"]),
      writeFilms("epic", ["fal"]),
      {
        ...{ id: "talk", type: "chat", capabilities: ["chat", "streaming"], limits: { max_output_tokens: 100 } },
        routes: [{ provider: "open", upstream_model: `${canary}-talk` }],
      },
      ...models,
    ],
    prices: [
      ...Object.values(oddModels),
      { model: "talk", billing_type: "token", unit: "1K tokens", input_price: "1", output_price: "2" },
      ...prices,
    ],
    providers,
  });
}

/** An image model that is routed to these providers, in this order. */
export function writePictures(id: string, providers: readonly string[], more: Fields = {}): Fields {
  return {
    id,
    type: "image",
    capabilities: ["text_to_image", "image_to_image"],
    limits: { sizes: ["64x64", "128x64"], max_n: 4, max_input_images: 2, max_prompt_length: 1000 },
    routes: listRoutes(providers),
    ...more,
  };
}

function writeFilms(id: string, providers: readonly string[]): Fields {
  return {
    id,
    type: "video",
    capabilities: ["text_to_video"],
    limits: { durations: [1, 5], aspect_ratios: ["16:9"] },
    routes: listRoutes(providers),
  };
}

export function listRoutes(providers: readonly string[]): Fields[] {
  return providers.map((provider, priority) => ({ provider, upstream_model: `${canary}/${provider}/model`, priority }));
}

/** A gateway for tests of what callers see and pay. */
export async function openTaskStage({ settings, ...options }: StageOptions = {}): Promise<TaskStage> {
  const stage = await openTaskGateway({
    catalog: writeStageCatalog,
    ...options,
    settings: { shutdown_timeout_ms: 2_000, ...settings },
  });
  const { database, dataDir } = stage;
  return {
    ...stage,
    createCaller: async (...asked) => createStageCaller(stage, await stage.createCaller(...asked)),
    async age(taskId, milliseconds = 0) {
      const interval = `${milliseconds} milliseconds`;
      await sql`update tasks set deadline_at = deadline_at - ${interval}::interval,
        lost_at = lost_at - ${interval}::interval where id = ${taskId}`.execute(database);
      const first = await countLooks(database, taskId);
      await waitUntil(`a worker to claim ${taskId}`, async () => {
        // Repeatedly, because a worker that just finished with it may have rescheduled it meanwhile.
        await sql`update task_leases set next_poll_at = now() where task_id = ${taskId}`.execute(database);
        return (await countLooks(database, taskId)) > first;
      });
    },
    async handedOver() {
      await waitUntil("every task to be handed over", async () => {
        const { rows } = await sql`select 1 from tasks where phase in ('ready', 'submitting')`.execute(database);
        return rows.length === 0;
      });
    },
    async check() {
      // One snapshot of all tasks: they may go on meanwhile.
      const transaction = database.transaction().setIsolationLevel("repeatable read");
      const violations = [
        ...(await transaction.execute(findTaskViolations)),
        ...(await findFileViolations(database, dataDir)),
      ];
      if (violations.length > 0) throw new Error(`Tasks are wrong:\n${violations.join("\n")}`);
    },
  };
}

/** How often workers have claimed a task; infinite once it is over. */
async function countLooks(database: TaskGateway["database"], taskId: string): Promise<number> {
  const query = database.selectFrom("task_leases").select("polls").where("task_id", "=", taskId);
  return (await query.executeTakeFirst())?.polls ?? Number.POSITIVE_INFINITY;
}

function createStageCaller({ gateway, database, fetch: watchedFetch }: TaskGateway, caller: TaskCaller): StageCaller {
  const { accountId, key } = caller;
  const count = async (table: string): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${sql.table(table)} where account_id = ${accountId}`.execute(database);
    return rows[0]?.count ?? 0;
  };
  return {
    ...(caller as Omit<TaskCaller, "readTask" | "awaitTask"> & Pick<StageCaller, "readTask" | "awaitTask">),
    client: new OpenAI({ apiKey: key, baseURL: gateway.baseUrl, fetch: watchedFetch, maxRetries: 0 }),
    async finish(path, body) {
      const { id } = await caller.submit(path, body);
      return (await caller.awaitTask(id)) as WholeTask;
    },
    async upload(bytes) {
      const form = new FormData();
      form.append("purpose", "generation");
      form.append("file", new Blob([new Uint8Array(bytes)]), "file.bin");
      const headers = { authorization: `Bearer ${key}` };
      const response = await watchedFetch(`${gateway.baseUrl}/files`, { method: "POST", body: form, headers });
      const { file_id: fileId } = (await response.json()) as { file_id?: string };
      if (fileId === undefined) throw new Error(`An upload was answered with ${response.status}.`);
      return fileId;
    },
    async countTraces() {
      const holds = await caller.listHolds();
      return {
        tasks: await count("tasks"),
        holds: holds.filter(({ state }) => state !== "refused").length,
        events: await count("events"),
        keys: await count("idempotency_keys"),
      };
    },
  };
}

/** The task in a response. */
export async function readTask(response: Response): Promise<WholeTask> {
  return (await response.json()) as WholeTask;
}

export const noTraces = { tasks: 0, holds: 0, events: 0, keys: 0 };

/** The error in an API response. */
export async function readProblem(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; message: string; param: string | null } };
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}

export const paths = {
  image: "/images/generations",
  video: "/videos/generations",
  avatar: "/avatars/generations",
  speech: "/audio/speech",
} as const;
