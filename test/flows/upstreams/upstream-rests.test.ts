import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { runCommand } from "../../harness/gateway-process.ts";
import { createTestClock, type TestClock } from "../../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { type Behaviour, canary } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type Fields = Record<string, unknown>;

const lonely = ["asked", "asked-long", "probed", "left", "blameless", "failing", "stale", "told"];

function nameUpstream(id: string, at = 0): string {
  return `${canary}-${id}-${at}`;
}

function createModel(id: string, routes: number): Fields {
  return {
    id,
    routes: Array.from({ length: routes }, (_, at) => ({
      ...{ provider: "open", upstream_model: nameUpstream(id, at), priority: at },
    })),
  };
}

let clock: TestClock;
let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  // Today, because holds are also checked against the real time.
  clock = createTestClock(new Date());
  chat = await openChatGateway({
    clock,
    catalog: (upstream) =>
      writeCatalogOf(upstream, {
        models: [...lonely.map((id) => createModel(id, 1)), createModel("pair", 2), createModel("shown", 2)],
      }),
  });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

async function send(model: string, fields: Fields = {}) {
  const response = await caller.post({ model, messages: [{ role: "user", content: "Hello" }], ...fields });
  const text = await response.text();
  const { error } = text.startsWith("{") ? (JSON.parse(text) as { error?: { code: string; param: string } }) : {};
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, code: error?.code ?? null, param: error?.param ?? null, retryAfter };
}

const ok = { status: 200, code: null };
const unroutable = { status: 503, code: "model_unavailable", param: "model" };

function script(id: string, ...behaviours: readonly Behaviour[]): void {
  chat.upstream.scriptFor({ model: nameUpstream(id) }, ...behaviours);
}

function countCalls(id: string, at = 0): number {
  return chat.upstream.requests.filter(({ model }) => model === nameUpstream(id, at)).length;
}

/** Fails five calls, which opens the circuit for two seconds. */
async function breakDown(id: string): Promise<void> {
  script(id, ...Array.from({ length: 5 }, () => ({ status: 500 })));
  for (let call = 0; call < 5; call += 1) {
    expect(await send(id)).toMatchObject({ status: 503, code: "upstream_unavailable" });
  }
}

describe("an upstream that sends Retry-After", () => {
  test("is not called before that time, and every caller gets it as Retry-After", async () => {
    script("asked", { status: 429, headers: { "retry-after": "30" } });
    expect(await send("asked")).toMatchObject({ status: 503, code: "upstream_unavailable", retryAfter: "30" });
    clock.advance(9500);
    expect(await send("asked")).toMatchObject({ ...unroutable, retryAfter: "21" });
    expect(await send("asked", { stream: true })).toMatchObject({ ...unroutable, retryAfter: "21" });
    clock.advance(20_499);
    expect(await send("asked")).toMatchObject({ ...unroutable, retryAfter: "1" });
    expect(countCalls("asked")).toBe(1);
    clock.advance(1);
    expect(await send("asked")).toMatchObject(ok);
    expect(countCalls("asked")).toBe(2);
  });

  test("is left alone for ten minutes at most", async () => {
    script("asked-long", { status: 503, headers: { "retry-after": "86400" } });
    await send("asked-long");
    clock.advance(599_999);
    expect(await send("asked-long")).toMatchObject(unroutable);
    clock.advance(1);
    expect(await send("asked-long")).toMatchObject(ok);
  });

  test("costs callers nothing, and leaves no hold", async () => {
    script("left", { status: 429, headers: { "retry-after": "5" } });
    const own = await chat.createCaller();
    const body = { model: "left", messages: [{ role: "user", content: "Hello" }] };
    expect((await own.post(body)).status).toBe(503);
    expect((await own.post(body)).status).toBe(503);
    await own.settled();
    expect(await own.listCharges()).toEqual([]);
    expect(await own.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
  });

  test("is left alone, even if an earlier call is answered meanwhile", async () => {
    const gate = chat.upstream.gate();
    script("stale", { beforeHead: gate }, { status: 429, headers: { "retry-after": "60" } });
    const slow = send("stale");
    await gate.reached();
    await send("stale");
    gate.open();
    expect(await slow).toMatchObject(ok);
    expect(await send("stale")).toMatchObject(unroutable);
  });
});

describe("an upstream that keeps failing", () => {
  test("is left alone, twice as long each time, until it is healthy", async () => {
    await breakDown("failing");
    expect(await send("failing")).toMatchObject({ ...unroutable, retryAfter: "2" });
    for (const restMs of [2000, 4000, 8000]) {
      clock.advance(restMs - 1);
      expect(await send("failing")).toMatchObject({ ...unroutable, retryAfter: "1" });
      clock.advance(1);
      script("failing", { status: 500 });
      expect(await send("failing")).toMatchObject({ status: 503, code: "upstream_unavailable" });
    }
    expect(countCalls("failing")).toBe(8);
    clock.advance(16_000);
    expect(await send("failing")).toMatchObject(ok);
    expect(await send("failing")).toMatchObject(ok);
  });

  test("is probed by one call at a time", async () => {
    await breakDown("probed");
    clock.advance(2000);
    const gate = chat.upstream.gate();
    script("probed", { beforeHead: gate });
    const probe = send("probed");
    await gate.reached();
    const others = await Promise.all(Array.from({ length: 5 }, () => send("probed")));
    for (const other of others) expect(other).toMatchObject(unroutable);
    expect(countCalls("probed")).toBe(6);
    gate.open();
    expect(await probe).toMatchObject(ok);
    expect(await send("probed")).toMatchObject(ok);
  });

  test("is probed by the next call when the probing caller disconnects", async () => {
    await breakDown("told");
    clock.advance(2000);
    const gate = chat.upstream.gate();
    script("told", { beforeHead: gate, beforePiece: chat.upstream.gate() });
    const leaving = new AbortController();
    const body = { model: "told", stream: true, messages: [{ role: "user", content: "Hello" }] };
    const abandoned = caller.post(body, { signal: leaving.signal });
    await gate.reached();
    const abortedBefore = chat.upstream.abortedCalls().length;
    leaving.abort();
    await expect(abandoned).rejects.toThrow();
    // The outcome comes first: only an upstream that has accepted is stopped.
    gate.open();
    await chat.upstream.aborted(abortedBefore + 1);
    expect(await send("told")).toMatchObject(ok);
  });

  test("is not one whose callers make mistakes", async () => {
    const mistake: Behaviour[] = Array.from({ length: 12 }, () => ({ status: 400 }));
    script("blameless", ...mistake);
    for (const _ of mistake) expect(await send("blameless")).toMatchObject({ status: 400 });
    expect(await send("blameless")).toMatchObject(ok);
  });

  test("leaves its calls to the next route without being called", async () => {
    script("pair", { status: 429, headers: { "retry-after": "30" } });
    for (let call = 0; call < 3; call += 1) expect(await send("pair")).toMatchObject(ok);
    expect([countCalls("pair"), countCalls("pair", 1)]).toEqual([1, 3]);
    clock.advance(30_000);
    expect(await send("pair")).toMatchObject(ok);
    expect(countCalls("pair")).toBe(2);
  });
});

test("sets the model's status: available, degraded, unavailable, and available again", async () => {
  const readStatus = async (): Promise<unknown> => {
    const response = await chat.fetch(`${chat.gateway.baseUrl}/models`, {
      headers: { authorization: `Bearer ${caller.key}` },
    });
    const { data } = (await response.json()) as { data: { id: string; status: string }[] };
    const detail = await chat.gateway.get("/models/shown", caller.key);
    const listed = data.find(({ id }) => id === "shown")?.status;
    expect(((await detail.json()) as { status: string }).status).toBe(listed);
    return listed;
  };
  const busy = { status: 429, headers: { "retry-after": "30" } };
  expect(await readStatus()).toBe("available");
  script("shown", busy);
  await send("shown");
  expect(await readStatus()).toBe("degraded");
  chat.upstream.scriptFor({ model: nameUpstream("shown", 1) }, busy);
  await send("shown");
  expect(await readStatus()).toBe("unavailable");
  expect(await send("shown")).toMatchObject(unroutable);
  clock.advance(30_000);
  await send("shown");
  expect(await readStatus()).toBe("degraded");
  script("shown", { status: 500 });
  await send("shown");
  expect(await readStatus()).toBe("available");
});

describe("operators see the health of upstreams", () => {
  let database: TestDatabase;
  let own: ChatGateway;
  let by: ChatCaller;
  beforeAll(async () => {
    database = await createTestDatabase();
    own = await openChatGateway({ sharedDatabase: database });
    by = await own.createCaller();
  });
  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await database.close();
  });

  async function list(...words: string[]): Promise<string> {
    const environment = { DATABASE_URL: database.url };
    const outcome = await runCommand(["upstream", "list", ...words], { environment });
    expect(outcome).toMatchObject({ exitCode: 0, stderr: "" });
    return outcome.stdout;
  }

  type Listed = { upstream_model: string; models: string[]; reports: Fields[] };
  const listJson = async (): Promise<Listed[]> => JSON.parse(await list("--json"));
  const findOpen = async () => (await listJson()).find(({ models }) => models.includes("open"));
  const countRows = async (): Promise<number> =>
    (await own.gateway.database.selectFrom("upstream_health").selectAll().execute()).length;

  test("all are healthy at first", async () => {
    expect(await listJson()).toHaveLength(4);
    expect((await findOpen())?.reports).toEqual([]);
    expect(await list()).toMatch(
      /open +openai-compatible +canaryvendor-open +\$\{FAKE_UPSTREAM_KEY\} +open +- +closed/,
    );
  });

  test("an open circuit is shown with its reason and its end, and is closed after recovery", async () => {
    own.upstream.script({ status: 429, headers: { "retry-after-ms": "500" } });
    const body = { model: "open", messages: [{ role: "user", content: "Hello" }] };
    expect((await by.post(body)).status).toBe(503);
    await waitUntil("the gateway to tell", async () => (await countRows()) === 1);
    expect((await findOpen())?.reports).toMatchObject([
      { node: expect.stringMatching(/^node_/), state: "open", failures: 1, last_failure: "rate-limited" },
    ]);
    expect(await list()).toMatch(/canaryvendor-open .* open +rate-limited +\d{4}-\d\d-\d\dT/);
    await waitUntil("the upstream to be called again", async () => (await by.post(body)).status === 200);
    await waitUntil("the gateway to tell", async () => (await countRows()) === 0);
    expect((await findOpen())?.reports).toEqual([]);
  });

  test("the report of a stopped gateway is not shown, and is deleted when another reports", async () => {
    const row = {
      ...{ provider_id: "open", upstream_model: `${canary}-open`, key_number: 0, state: "open", failures: 5 },
      ...{ last_failure: "overloaded", open_until: new Date() },
    };
    const agoMs = (milliseconds: number) => new Date(Date.now() - milliseconds);
    const rows = [
      { ...row, node_id: "node_silent", reported_at: agoMs(91_000) },
      { ...row, node_id: "node_alive", reported_at: agoMs(30_000) },
    ];
    await own.gateway.database.insertInto("upstream_health").values(rows).execute();
    expect((await findOpen())?.reports).toMatchObject([{ node: "node_alive" }]);
    own.upstream.script({ status: 429, headers: { "retry-after": "60" } });
    await by.post({ model: "open", messages: [{ role: "user", content: "Hello" }] });
    const listNodes = async () => await own.gateway.database.selectFrom("upstream_health").select("node_id").execute();
    await waitUntil("the silent one to go", async () =>
      (await listNodes()).every(({ node_id }) => node_id !== "node_silent"),
    );
    expect((await findOpen())?.reports).toMatchObject([{ node: expect.any(String) }, { node: "node_alive" }]);
  });
});
