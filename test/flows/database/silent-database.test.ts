// @module-tag extended
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { createDataDirectory, findFreePort, spawnGateway } from "../../harness/gateway-process.ts";
import { scrapeMetrics } from "../../harness/scrape-metrics.ts";
import { type GatedDatabase, openGatedDatabase } from "../../harness/servers/gated-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

// The promises are 5 s, 10 s and the request timeout plus a few seconds; a busy machine needs longer.
const answerMsMax = 7000;
const backMsMax = 20_000;
const stopMsMax = 20_000;
const ask = { model: "open", messages: [{ role: "user", content: "Hi" }] };

type Told = { status: number; ms: number; retryAfter: string | null; body: unknown };

async function time(answer: Promise<Response>): Promise<Told> {
  const startedMs = performance.now();
  const response = await answer;
  const body = await response.text();
  const ms = performance.now() - startedMs;
  const parsed = body.startsWith("{") ? JSON.parse(body) : body;
  return { status: response.status, ms, retryAfter: response.headers.get("retry-after"), body: parsed };
}

function expectRefusal(told: Told): void {
  expect(told).toMatchObject({
    status: 503,
    retryAfter: expect.stringMatching(/^\d+$/),
    body: { error: { type: "api_error", code: "overloaded", message: expect.any(String) } },
  });
  expect(told.ms).toBeLessThan(answerMsMax);
}

describe("a gateway whose database", () => {
  let database: GatedDatabase;
  let chat: ChatGateway;
  let caller: ChatCaller;
  beforeAll(async () => {
    database = await openGatedDatabase();
    const settings = { database_url: database.url, metrics_port: 0 };
    chat = await openChatGateway({ sharedDatabase: database.direct, settings });
    caller = await chat.createCaller();
    // Changes arrive in commit order: a gateway that serves this has processed the creation of the caller, and keeps it
    // cached.
    const models = [{ id: "open", routes: [{ provider: "open", upstream_model: "only" }] }];
    await chat.applyCatalog(writeCatalogOf(chat.upstream, { models }));
  });
  beforeEach(async () => {
    database.gate.speak();
    await expectService();
  });
  afterAll(async () => {
    await chat[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** Asks, and counts the paid calls. */
  let answered = 0;
  async function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const response = await caller.post(body, { headers });
    if (response.status === 200 && !response.headers.has("idempotent-replayed")) answered += 1;
    return response;
  }
  const askReady = (): Promise<Told> => time(fetch(`${chat.gateway.siteUrl}/readyz`));
  const askKeyed = (key: string): Promise<Response> => post(ask, { "idempotency-key": key });

  const isListening = async (): Promise<boolean> =>
    (await scrapeMetrics(chat.gateway.metricsPort)).read("sluice_change_feed_live") === 1;

  /** From then on the caller is cached, because the change feed is live. */
  async function expectService(): Promise<void> {
    const isServing = async (): Promise<boolean> =>
      (await isListening()) && (await post(ask)).status === 200 && (await askReady()).status === 200;
    await waitUntil("service", isServing, backMsMax);
    await caller.settled();
    expect(await caller.listCharges()).toHaveLength(answered);
  }

  test("falls silent refuses paid calls in time, is not ready, and serves again soon after", async () => {
    const { gate } = database;
    gate.silence("all");
    const told = await Promise.all([
      time(post(ask)),
      time(post({ ...ask, stream: true })),
      time(askKeyed("silent")),
      time(chat.gateway.get("/balance", caller.key)),
    ]);
    for (const one of told) expectRefusal(one);
    expectRefusal(await askReady());
    // Needs no database: caller and catalog are cached.
    expect((await chat.gateway.get("/models", caller.key)).status).toBe(200);
    expectRefusal(await time(post(ask)));
    gate.speak();
    await expectService();
    expect((await askKeyed("silent")).status).toBe(200);
  });

  test("silently loses all its connections reconnects and serves", async () => {
    await Promise.all(Array.from({ length: 8 }, () => chat.gateway.get("/balance", caller.key)));
    database.gate.silence("open");
    const told = await Promise.all([
      time(post(ask)),
      time(askKeyed("quiet")),
      time(chat.gateway.get("/balance", caller.key)),
    ]);
    for (const { status, ms } of told) expect([status, ms < answerMsMax]).toEqual([200, true]);
    await expectService();
  });

  test("is away for a moment delays its calls", async () => {
    await database.gate.close();
    const calls = [post(ask), askKeyed("away"), chat.gateway.get("/balance", caller.key)].map(time);
    await waitUntil("the payment to wait", () =>
      chat.gateway.logs.some(({ msg }) => msg === "ledger waiting for the database"),
    ).finally(() => database.gate.open());
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expectService();
  });
});

describe("a read-only database", () => {
  let database: GatedDatabase;
  let chat: ChatGateway;
  let caller: ChatCaller;
  beforeAll(async () => {
    database = await openGatedDatabase();
    chat = await openChatGateway({ sharedDatabase: database.direct, settings: { database_url: database.url } });
    caller = await chat.createCaller();
  });
  afterAll(async () => {
    await chat[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** As after a failover that leaves the old server behind as a standby. */
  async function setReadOnly(state: "on" | "off"): Promise<void> {
    const { pathname } = new URL(database.url);
    const change = `alter database ${pathname.slice(1)} set default_transaction_read_only = ${state}`;
    await sql.raw(`begin read write; ${change}; commit`).execute(chat.gateway.database);
    database.gate.cut();
  }

  test("makes writes and the readiness probe 503, never 500, and is left as soon as a writable server is available", async () => {
    await setReadOnly("on");
    const { siteUrl, baseUrl } = chat.gateway;
    const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
    const endpoint = { url: "http://127.0.0.1:9/" };
    const told = await Promise.all([
      time(caller.post(ask)),
      time(caller.post(ask, { headers: { "idempotency-key": "read-only" } })),
      time(fetch(`${baseUrl}/webhook_endpoints`, { method: "POST", headers, body: JSON.stringify(endpoint) })),
      time(fetch(`${siteUrl}/readyz`)),
    ]);
    for (const one of told) expectRefusal(one);
    expect((await chat.gateway.get("/balance", caller.key)).status).toBe(200);
    await setReadOnly("off");
    const isServing = async (): Promise<boolean> =>
      (await caller.post(ask)).status === 200 && (await fetch(`${siteUrl}/readyz`)).status === 200;
    await waitUntil("service", isServing, backMsMax);
  });
});

test("a gateway waits for its database when it starts, and stops on SIGTERM even if the database stays silent", async () => {
  await using database = await openGatedDatabase();
  await database.gate.close();
  using data = createDataDirectory();
  const environment = {
    DATABASE_URL: database.url,
    SLUICE_DATA_DIR: data.path,
    SLUICE_PORT: await findFreePort(),
    SLUICE_SHUTDOWN_TIMEOUT_MS: "100",
  };
  await using gateway = spawnGateway({ environment });
  const countTries = (): number =>
    gateway.output().match(/Nothing answers there. Trying again for \d+ s/g)?.length ?? 0;
  await waitUntil("two tries", () => countTries() === 2);
  await database.gate.open();
  await waitUntil("the gateway is ready", () => gateway.output().includes('"msg":"ready"'));
  expect(
    gateway
      .output()
      .split("\n")
      .filter((line) => line.includes("    at ")),
  ).toEqual([]);
  database.gate.silence("all");
  gateway.kill("SIGTERM");
  const startedMs = performance.now();
  expect(await gateway.exited).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(stopMsMax);
});
