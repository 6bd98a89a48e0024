import { randomBytes } from "node:crypto";
import { createAccount } from "../../../src/features/accounts/index.ts";
import {
  createWebhooks,
  type Delivery,
  type EventData,
  listDeliveries,
  recordEvent,
  type WebhookEndpoint,
  type Webhooks,
} from "../../../src/features/webhooks/index.ts";
import type { Caller } from "../../../src/lib/caller.ts";
import {
  type AccountId,
  createIdSource,
  type EventId,
  type IdSource,
  type KeyId,
  type WebhookEndpointId,
} from "../../../src/lib/ids.ts";
import type { MasterKey } from "../../../src/platform/config/master-key.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { createHttpServer, type HttpServer } from "../../../src/platform/http/create-http-server.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { createTestDatabase } from "../test-database.ts";
import { waitUntil } from "../wait-until.ts";

type StageOptions = Partial<Parameters<typeof createWebhooks>[0]>;

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer, it compares.
type Answer = { status: number; body: any; headers: Record<string, unknown> };

/** Webhooks as a gateway composes them, without the rest: a real database, real sockets, a frozen clock. */
export type WebhookStage = AsyncDisposable & {
  url: string;
  database: Database;
  clock: TestClock;
  ids: IdSource;
  logs: string[];
  /** The endpoints that were reported as disabled. */
  disabled: WebhookEndpoint[];
  createAccount(): Promise<AccountId>;
  /** Calls the API as an account. */
  call(
    accountId: AccountId,
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<Answer>;
  /** A new endpoint of an account. */
  createEndpoint(
    accountId: AccountId,
    url: string,
    more?: { event_types?: string[] },
  ): Promise<{ id: WebhookEndpointId; secret: string }>;
  /** An event's deliveries, newest first. */
  listDeliveries(eventId: EventId): Promise<Delivery[]>;
  /** Waits until none of an event's deliveries is pending and due, and returns them. */
  settle(eventId: EventId): Promise<Delivery[]>;
  /** Records that a task succeeded, in its own transaction. */
  record(accountId: AccountId, more?: Partial<Parameters<typeof recordEvent>[1]>): Promise<EventId>;
  /** Another sending process, beside that of the stage if it was started. */
  startSender(options?: StageOptions): Promise<{ webhooks: Webhooks; close(): Promise<void> }>;
};

const testMasterKey: MasterKey = { derive: (purpose) => Buffer.alloc(32, purpose) };

export async function openWebhookStage(options: StageOptions = {}): Promise<WebhookStage> {
  const testDatabase = await createTestDatabase();
  const address = { connectionString: testDatabase.url };
  const database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
  const clock = createTestClock();
  const ids = createIdSource({ clock, randomBytes });
  const logs: string[] = [];
  const logger = createLogger({ level: "debug", format: "json", write: (line) => logs.push(line) });
  const disabled: WebhookEndpoint[] = [];
  const closers: (() => Promise<void>)[] = [];

  function createOne(own: StageOptions): Webhooks {
    return createWebhooks({
      database,
      clock,
      ids,
      random: () => 0.5,
      randomBytes,
      masterKey: testMasterKey,
      logger,
      allowsPrivate: true,
      presentData,
      baseUrl: "https://api.example.com/v1",
      onDisabled: (endpoint) => disabled.push(endpoint),
      pollEveryMs: 20,
      closeTimeoutMs: 1000,
      ...options,
      ...own,
    });
  }

  const webhooks = createOne({});
  closers.push(() => webhooks.close());
  const http = await createTestHttp(webhooks, { clock, ids, logger });
  closers.push(() => http.close());

  async function call(...[accountId, method, path, body]: Parameters<WebhookStage["call"]>): Promise<Answer> {
    const response = await http.inject({
      method,
      url: `/v1${path}`,
      headers: { "x-account": accountId },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  }

  const findDeliveries = (eventId: EventId): Promise<Delivery[]> => listDeliveries(database, { eventId, limit: 100 });

  return {
    url: testDatabase.url,
    database,
    clock,
    ids,
    logs,
    disabled,
    async createAccount() {
      const email = `${randomBytes(6).toString("hex")}@example.com`;
      return (await createAccount({ database, clock, ids }, { email })).id;
    },
    call,
    async createEndpoint(accountId, url, more = {}) {
      const { status, body } = await call(accountId, "POST", "/webhook_endpoints", { url, ...more });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body;
    },
    listDeliveries: findDeliveries,
    settle: (eventId) =>
      waitUntil("the end of what is due", async () => {
        const deliveries = await findDeliveries(eventId);
        const isDue = ({ state, nextAttemptAt }: Delivery): boolean =>
          state === "pending" && (nextAttemptAt === null || nextAttemptAt <= clock.now());
        return deliveries.some(isDue) ? null : deliveries;
      }),
    async record(accountId, more = {}) {
      const id = ids.next("evt");
      const data: EventData = {
        task_id: "task_1",
        status: "succeeded",
        output: [{ type: "image", file_id: "file_1" }],
      };
      const event = { id, accountId, type: "task.succeeded" as const, createdAt: clock.now(), data, callbackUrl: null };
      await database.transaction().execute((tx) => recordEvent(tx, { ...event, ...more }, { ids }));
      return id;
    },
    async startSender(own = {}) {
      const sender = createOne(own);
      const close = (): Promise<void> => sender.close();
      closers.push(close);
      sender.startDelivering();
      return { webhooks: sender, close };
    },
    async [Symbol.asyncDispose]() {
      for (const close of closers.toReversed()) await close();
      await database.destroy();
      await testDatabase.close();
    },
  };
}

/** Like the files feature: replaces the file by a link, which differs with each time. */
function presentData(data: EventData, now: Date): object {
  const output = (data.output as { file_id: string }[] | undefined)?.map(({ file_id, ...item }) => ({
    ...item,
    url: `https://files.example/${file_id}?at=${now.getTime()}`,
  }));
  return { ...data, output };
}

/** A gateway's HTTP server, with a header instead of a key. */
async function createTestHttp(
  webhooks: Webhooks,
  parts: Pick<Parameters<typeof createHttpServer>[0], "clock" | "ids" | "logger">,
): Promise<HttpServer> {
  const json = { structureMax: 1000, escapesMax: 1000 };
  const limits = {
    bodyBytesMax: 100_000,
    json,
    headerBytesMax: 16_384,
    headerTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
  };
  return await createHttpServer({
    ...parts,
    limits,
    trustedProxies: [],
    async addRoutes(http) {
      await http.register(
        async (v1: HttpServer) => {
          v1.addHook("onRequest", async (request) => {
            const accountId = request.headers["x-account"] as AccountId;
            // Routes use nothing else of a caller.
            request.caller = { accountId, keyId: `key_${accountId}` as KeyId } as Caller;
          });
          webhooks.addRoutes(v1);
        },
        { prefix: "/v1" },
      );
    },
  });
}
