import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { type GatedDatabase, openGatedDatabase } from "../../harness/servers/gated-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const answerMsMax = 5000;
const backMsMax = 10_000;
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
    chat = await openChatGateway({ sharedDatabase: database.direct, settings: { database_url: database.url } });
    caller = await chat.createCaller();
    expect((await caller.post(ask)).status).toBe(200);
  });
  afterAll(async () => {
    await chat[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** Asks, and counts what was paid for. */
  let answered = 1;
  async function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const response = await caller.post(body, { headers });
    if (response.status === 200 && !response.headers.has("idempotent-replayed")) answered += 1;
    return response;
  }
  const askReady = (): Promise<Told> => time(fetch(`${chat.gateway.siteUrl}/readyz`));
  const askKeyed = (key: string): Promise<Response> => post(ask, { "idempotency-key": key });

  async function expectService(): Promise<void> {
    const isServing = async (): Promise<boolean> =>
      (await post(ask)).status === 200 && (await askReady()).status === 200;
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
    await waitUntil("the calls to be refused by nobody", () =>
      chat.gateway.logs.some(({ msg }) => msg === "payments wait for the database"),
    );
    await database.gate.open();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expectService();
  });
});

test("a gateway that is told to stop while its database is silent stops", async () => {
  await using database = await openGatedDatabase();
  const chat = await openChatGateway({
    sharedDatabase: database.direct,
    settings: { database_url: database.url, shutdown_timeout_ms: 100 },
  });
  const caller = await chat.createCaller();
  expect((await caller.post(ask)).status).toBe(200);
  database.gate.silence("all");
  const refused = caller.post(ask).catch(() => null);
  const startedMs = performance.now();
  await chat.gateway.close();
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  await refused;
  await chat[Symbol.asyncDispose]();
});
