import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { createDataDirectory, findFreePort, spawnGateway } from "../../harness/gateway-process.ts";
import { scrapeMetrics } from "../../harness/scrape-metrics.ts";
import { type GatedDatabase, openGatedDatabase } from "../../harness/servers/gated-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

// The promises are 5 s, 10 s and the time for requests with a few more seconds; a busy machine adds to them.
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
    // Changes are heard in the order in which they are committed: who serves this has heard that the caller is new, and
    // has no more reason to forget it.
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

  /** Asks, and counts what was paid for. */
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

  /** From then on the caller is remembered, because changes are heard. */
  async function expectService(): Promise<void> {
    const isServing = async (): Promise<boolean> =>
      (await isListening()) && (await post(ask)).status === 200 && (await askReady()).status === 200;
    await waitUntil("service", isServing, backMsMax);
    await caller.settled();
    expect(await caller.listCharges()).toHaveLength(answered);
  }

  test("falls silent refuses paid calls in time, says that it is not ready, and serves again soon after", async () => {
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
    // Needs no database: caller and catalog are remembered.
    expect((await chat.gateway.get("/models", caller.key)).status).toBe(200);
    expectRefusal(await time(post(ask)));
    gate.speak();
    await expectService();
    expect((await askKeyed("silent")).status).toBe(200);
  });

  test("loses all its connections without a word serves by new ones", async () => {
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

  test("is away for a moment has its calls wait", async () => {
    await database.gate.close();
    const calls = [post(ask), askKeyed("away"), chat.gateway.get("/balance", caller.key)].map(time);
    await waitUntil("the payment to wait", () =>
      chat.gateway.logs.some(({ msg }) => msg === "ledger waiting for the database"),
    ).finally(() => database.gate.open());
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expectService();
  });
});

describe("a database that takes no writes", () => {
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

  /** As a failover does that leaves the old server behind as a standby. */
  async function setReadOnly(state: "on" | "off"): Promise<void> {
    const { pathname } = new URL(database.url);
    const change = `alter database ${pathname.slice(1)} set default_transaction_read_only = ${state}`;
    await sql.raw(`begin read write; ${change}; commit`).execute(chat.gateway.database);
    database.gate.cut();
  }

  test("is a 503 for whoever writes and for the readiness, never a 500, and it is left as soon as another one serves", async () => {
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

test("a gateway waits for its database when it starts, and ends when it is told to, however silent that is", async () => {
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
