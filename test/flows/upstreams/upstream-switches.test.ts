import { afterAll, beforeAll, expect, test } from "vitest";
import { switchOff, switchOn } from "../../../src/features/catalog/index.ts";
import { upstreamKeyName, writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { openTaskStage, writePictures, writeStageCatalog } from "../../harness/tasks/task-stage.ts";
import { createTestClock, type TestClock } from "../../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type Fields = Record<string, unknown>;

const otherKey = "SLUICE_TEST_OTHER_KEY";

function writeCatalog(upstream: FakeUpstreams): string {
  const openAi = { kind: "openai-compatible", base_url: upstream.openAiUrl };
  const routeTo = (provider: string, model: string, priority = 0): Fields => ({
    ...{ provider, upstream_model: `${canary}-${model}`, priority },
  });
  return writeCatalogOf(upstream, {
    providers: [
      { id: "main", ...openAi, api_keys: [`\${${upstreamKeyName}}`, `\${${otherKey}}`] },
      { id: "spare", ...openAi, api_keys: [`\${${upstreamKeyName}}`] },
    ],
    models: [
      { id: "lone", routes: [routeTo("main", "lone")] },
      { id: "pair", routes: [routeTo("main", "pair"), routeTo("spare", "pair-spare", 1)] },
    ],
  });
}

let clock: TestClock;
let database: TestDatabase;
let chat: ChatGateway;
let second: TestGateway;
let caller: ChatCaller;
beforeAll(async () => {
  process.env[otherKey] = "sk-other";
  // Today, because holds are also checked against the real time.
  clock = createTestClock(new Date());
  database = await createTestDatabase();
  chat = await openChatGateway({ clock, catalog: writeCatalog, sharedDatabase: database });
  second = await startGateway({ clock, sharedDatabase: database });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(async () => {
  delete process.env[otherKey];
  await second[Symbol.asyncDispose]();
  await chat[Symbol.asyncDispose]();
  await database.close();
});

async function operate(...words: string[]) {
  return await runCommandHere(words, { environment: { DATABASE_URL: database.url } });
}

async function operateJson(...words: string[]) {
  const { stdout, stderr, exitCode } = await operate(...words, "--json");
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function call(gateway: TestGateway, model: string, fields: Fields = {}): Promise<Response> {
  return await chat.fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], ...fields }),
  });
}

/** Resolves when every gateway answers calls of the model with this status. */
async function untilStatus(model: string, status: number): Promise<void> {
  for (const gateway of [chat.gateway, second]) {
    await waitUntil(`status ${status}`, async () => {
      const response = await call(gateway, model);
      await response.text();
      return response.status === status;
    });
  }
}

const findUpstream = async (model: string) =>
  (await operateJson("upstream", "list")).find((one: Fields) => one.upstream_model === `${canary}-${model}`);

test("a disabled provider gets no new calls on any node; one under way ends; another route serves", async () => {
  const gate = createGate();
  chat.upstream.scriptFor({ model: `${canary}-lone` }, { pieces: ["Hel", "lo"], beforeEnd: gate });
  const running = await call(chat.gateway, "lone", { stream: true });
  await gate.reached();
  const made = await operateJson("upstream", "disable", "main", "--reason", "Vendor outage", "--until", "2h");
  expect(made).toMatchObject({
    ...{ subject: "main", kind: "provider", mode: "disabled", reason: "Vendor outage" },
    models_without_route: ["lone"],
  });
  await untilStatus("lone", 503);
  const before = await caller.listCharges();
  const refused = await call(chat.gateway, "lone");
  expect(await refused.json()).toMatchObject({ error: { code: "model_unavailable", param: "model" } });
  expect(refused.headers.get("retry-after")).not.toBeNull();
  expect(await caller.listCharges()).toEqual(before);
  await untilStatus("pair", 200);
  expect(chat.upstream.requests.at(-1)?.model).toBe(`${canary}-pair-spare`);
  gate.open();
  expect(await running.text()).toContain("[DONE]");
});

test("operators see the switch with its reason and end, and the log has one warning per node", async () => {
  expect((await findUpstream("lone")).switch).toMatchObject({ mode: "disabled", reason: "Vendor outage" });
  const { stdout } = await operate("upstream", "list");
  expect(stdout).toMatch(/main .* disabled +Vendor outage \(\w+\) +20\d\d-/);
  expect((await operate("doctor")).stdout).toMatch(/switched off +main is disabled since .* until .*: Vendor outage/);
  for (const { logs } of [chat.gateway, second]) {
    const lines = logs.filter(({ msg }) => msg === "upstream out of service");
    expect(lines).toMatchObject([
      { level: "warn", upstream: "main", reason: expect.stringContaining("Vendor outage") },
    ]);
  }
  const models = (await (await chat.gateway.get("/models", caller.key)).json()) as { data: Fields[] };
  expect(models.data.find(({ id }) => id === "lone")).toMatchObject({ status: "unavailable" });
  expect(JSON.stringify(models)).not.toContain("Vendor outage");
});

test("a switch ends at its time, without a command", async () => {
  clock.advance(2 * 3_600_000 + 60_000);
  await untilStatus("lone", 200);
});

test("enable ends it at once, and a new switch replaces the old one", async () => {
  await operateJson("upstream", "disable", "main", "--reason", "One");
  await operateJson("upstream", "drain", "main", "--reason", "Two");
  expect((await findUpstream("lone")).switch).toMatchObject({ mode: "draining", reason: "Two", until: null });
  await untilStatus("lone", 503);
  await operateJson("upstream", "enable", "main");
  await untilStatus("lone", 200);
  expect((await findUpstream("lone")).switch).toBeNull();
  const rows = await chat.gateway.database.selectFrom("upstream_switches").selectAll().orderBy("id").execute();
  expect(rows.map(({ reason, ended_at }) => [reason, ended_at !== null])).toEqual([
    ["Vendor outage", true],
    ["One", true],
    ["Two", true],
  ]);
});

test("a route and a key can be switched off alone", async () => {
  await operateJson("upstream", "disable", `main/${canary}-lone`, "--reason", "Bad answers");
  await untilStatus("lone", 503);
  await untilStatus("pair", 200);
  expect(chat.upstream.requests.at(-1)?.model).toBe(`${canary}-pair`);
  await operateJson("upstream", "enable", `main/${canary}-lone`);
  const { models_without_route: stranded } = await operateJson("upstream", "disable", otherKey, "--reason", "Leaked");
  expect(stranded).toEqual([]);
  await untilStatus("lone", 200);
  const off = async () =>
    (await operateJson("upstream", "list")).filter(
      ({ provider, reports }: { provider: string; reports: Fields[] }) =>
        provider === "main" && reports.some(({ last_failure }) => last_failure === `disabled ${otherKey}`),
    );
  await waitUntil("the reports of both gateways", async () => (await off())[0]?.reports.length === 2);
  for (let count = 0; count < 20; count += 1) {
    expect((await call(chat.gateway, "lone", { user: `${count}` })).status).toBe(200);
    expect(chat.upstream.requests.at(-1)?.apiKey).not.toBe("sk-other");
  }
  await operateJson("upstream", "enable", otherKey);
});

test.each([
  [["disable", "mian", "--reason", "x"], "The nearest names are main"],
  [["disable", "main", "--reason", " "], "--reason must have 1 to 500 characters."],
  [["disable", "main", "--reason", "x", "--until", "soon"], "--until must be a duration such as 30m"],
  [["disable", "main", "--reason", "x", "--until", "2020-01-01T00:00:00Z"], "--until must be in the future."],
  [["disable", "main"], "--reason is required"],
  [["enable", "main"], "main is not disabled. Nothing is disabled."],
])("%j is refused", async (words, message) => {
  const { exitCode, stderr } = await operate("upstream", ...words);
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).toContain(message);
});

test.each(["draining", "disabled"] as const)("tasks while their provider is %s", async (mode) => {
  await using stage = await openTaskStage({
    catalog: (upstream) =>
      writeStageCatalog(upstream, {
        providers: [
          { id: "queue", kind: "fal", base_url: upstream.falUrl, api_keys: [`\${${upstreamKeyName}}`], tasks_max: 1 },
        ],
        models: [writePictures("slow", ["queue"])],
        prices: [{ model: "slow", billing_type: "per_call", unit: "call", price: "0.10" }],
      }),
  });
  const { database: taskDatabase, gateway } = stage;
  const artist = await stage.createCaller();
  const gate = createGate();
  stage.media.script({ beforeFinish: gate });
  const running = await artist.submitImage("slow", "A barn");
  await waitUntil("the first poll", () => stage.media.calls.some(({ method }) => method === "GET"));
  const queued = await artist.submitImage("slow", "A field");
  const dependencies = { database: taskDatabase, clock: gateway.parts.clock };
  const request = { subject: "queue", mode, reason: "Maintenance", actor: "test", endsAt: null };
  await switchOff(dependencies, request);
  const countLogs = () => gateway.logs.filter(({ msg }) => msg === "upstream out of service").length;
  await waitUntil("the gateway to follow", () => countLogs() === 1);
  const refused = await artist.post("/images/generations", { model: "slow", prompt: "A river", size: "64x64" });
  expect(refused.status).toBe(503);
  gate.open();
  expect(await artist.awaitTask(running.id)).toMatchObject({ status: "succeeded" });
  await stage.age(queued.id);
  if (mode === "disabled") {
    expect(await artist.readTask(queued.id)).toMatchObject({ status: "queued" });
    await switchOn(dependencies, { subject: "queue", actor: "test" });
    await waitUntil("the provider to be back", () => gateway.logs.some(({ msg }) => msg === "upstream fault resolved"));
    await stage.age(queued.id);
  }
  expect(await artist.awaitTask(queued.id)).toMatchObject({ status: "succeeded" });
});
