import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeCatalogOf, writePrice } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { createDataDirectory } from "../../harness/gateway-process.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { listRoutes, openTaskStage, writePictures, writeStageCatalog } from "../../harness/tasks/task-stage.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { voice } from "../../harness/upstreams/media-samples.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type Fields = Record<string, unknown>;

/** Variables that no test environment has. */
const absent = { key: "SLUICE_TEST_ABSENT_KEY", header: "SLUICE_TEST_ABSENT_HEADER" };
/** Set by the test that needs it, to the name of a file. */
const filed = "SLUICE_TEST_FILED_KEY";

const routeTo = (provider: string, priority = 0): Fields => ({
  ...{ provider, upstream_model: `${canary}-${provider}`, priority },
});

function writeCatalog(upstream: FakeUpstreams, name = "Lone"): string {
  const openAi = { kind: "openai-compatible", base_url: upstream.openAiUrl };
  const routes = [routeTo("keyless")];
  const perCall = { billing_type: "per_call", unit: "call", price: "0.10" };
  return writeCatalogOf(upstream, {
    providers: [
      { id: "keyless", ...openAi, api_keys: [`\${${absent.key}}`], native_wires: ["responses"] },
      { id: "headless", ...openAi, headers: { "x-team": `\${${absent.header}}` } },
      { id: "filed", ...openAi, api_keys: [`\${${filed}}`] },
      { id: "keyless-claude", kind: "anthropic", base_url: upstream.anthropicUrl, api_keys: [`\${${absent.key}}`] },
      { id: "anonymous", ...openAi },
    ],
    models: [
      { id: "lone", name, routes },
      { id: "headed", routes: [routeTo("headless")] },
      { id: "claude", routes: [routeTo("keyless-claude")] },
      { id: "paired", routes: [routeTo("keyless"), routeTo("open", 1)] },
      { id: "filed", routes: [routeTo("filed")] },
      { id: "local", routes: [routeTo("anonymous")] },
      { id: "open", routes: [routeTo("open")] },
      { id: "vectors", type: "embedding", capabilities: ["text_embedding"], limits: { context_window: 100 }, routes },
      { id: "voice", type: "speech", capabilities: ["text_to_speech"], limits: { voices: ["ash"] }, routes },
      { id: "ear", type: "transcription", capabilities: ["transcription"], limits: {}, routes },
      { id: "image", type: "image", capabilities: ["text_to_image"], limits: { sizes: ["64x64"] }, routes },
    ],
    prices: [
      ...["lone", "headed", "claude", "paired", "filed", "local", "open"].map((model) => writePrice(model)),
      ...["vectors", "voice", "ear", "image"].map((model) => ({ model, ...perCall })),
    ],
  });
}

let database: TestDatabase;
let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  database = await createTestDatabase();
  chat = await openChatGateway({ catalog: writeCatalog, sharedDatabase: database });
  caller = await chat.createCaller();
});
afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  await database.close();
});

async function post(path: string, body: Fields | FormData) {
  const isForm = body instanceof FormData;
  const headers = {
    authorization: `Bearer ${caller.key}`,
    ...(isForm ? {} : { "content-type": "application/json" }),
  };
  const sent = { method: "POST", headers, body: isForm ? body : JSON.stringify(body) };
  const response = await chat.fetch(`${chat.gateway.baseUrl}${path}`, sent);
  const { error } = (await response.json().catch(() => ({}))) as { error?: { code?: string; type?: string } };
  return { status: response.status, code: error?.code ?? error?.type ?? null };
}

const messages = [{ role: "user", content: "Hello" }];
const countRequests = (): number => chat.upstream.requests.length + chat.upstream.media.calls.length;

function createForm(): FormData {
  const form = new FormData();
  form.append("model", "ear");
  form.append("file", new Blob([new Uint8Array(voice.bytes)]), "voice.mp3");
  return form;
}

const calls: [what: string, path: string, body: Fields | FormData][] = [
  ["chat", "/chat/completions", { model: "lone", messages }],
  ["a stream", "/chat/completions", { model: "lone", messages, stream: true }],
  ["a native response", "/responses", { model: "lone", input: "Hello" }],
  ["native messages", "/messages", { model: "claude", max_tokens: 10, messages }],
  ["chat with a header's secret", "/chat/completions", { model: "headed", messages }],
  ["embeddings", "/embeddings", { model: "vectors", input: "Hello" }],
  ["speech", "/audio/speech", { model: "voice", input: "Hello", voice: "ash" }],
  ["a transcription", "/audio/transcriptions", createForm()],
  ["an image", "/images/generations", { model: "image", prompt: "A barn" }],
];

test.each(calls)("%s is a 503 if the only route lacks its secret, and nothing is sent", async (_what, path, body) => {
  const before = countRequests();
  const answer = await post(path, body);
  expect(answer.status).toBe(503);
  expect(answer.code).toMatch(/^(model_unavailable|overloaded_error|api_error)$/);
  expect(countRequests()).toBe(before);
});

test("another route serves instead", async () => {
  expect(await post("/chat/completions", { model: "paired", messages })).toMatchObject({ status: 200 });
  expect(chat.upstream.requests.at(-1)?.model).toBe(`${canary}-open`);
});

test("a provider that declares no key is called without one", async () => {
  // The fake vendor requires a key, and answers with that error.
  expect(await post("/chat/completions", { model: "local", messages })).toMatchObject({ code: "upstream_unavailable" });
  expect(chat.upstream.requests.at(-1)).toMatchObject({ model: `${canary}-anonymous`, apiKey: null });
});

test("the models' status follows", async () => {
  const response = await chat.gateway.get("/models", caller.key);
  const { data } = (await response.json()) as { data: { id: string; status: string }[] };
  const statuses = Object.fromEntries(data.map(({ id, status }) => [id, status]));
  expect(statuses).toMatchObject({ lone: "unavailable", headed: "unavailable", image: "unavailable" });
  expect(statuses).toMatchObject({ paired: "degraded", open: "available" });
});

function listFaultLogs(): Fields[] {
  return chat.gateway.logs.filter(({ msg }) => msg === "upstream out of service");
}

test("the warning is logged once per provider and catalog version, not per call", async () => {
  const describeFault = (upstream: string, variable: string) =>
    expect.objectContaining({ level: "error", upstream, reason: expect.stringContaining(variable) });
  const faults = [
    describeFault("keyless", absent.key),
    describeFault("headless", absent.header),
    describeFault("filed", filed),
    describeFault("keyless-claude", absent.key),
  ];
  expect(listFaultLogs()).toHaveLength(4);
  expect(listFaultLogs()).toEqual(expect.arrayContaining(faults));
  await chat.applyCatalog(writeCatalog(chat.upstream, "Renamed"));
  await post("/chat/completions", { model: "lone", messages });
  expect(listFaultLogs()).toHaveLength(8);
});

test("operators find the variable in the list of upstreams and by doctor", async () => {
  const environment = { DATABASE_URL: database.url };
  const list = async () => (await runCommandHere(["upstream", "list"], { environment })).stdout;
  await waitUntil("the gateway to report", async () => (await list()).includes(`missing-secret ${absent.key}`));
  expect(await list()).toMatch(new RegExp(`headless .* open +missing-secret ${absent.header}`));
  const { stdout } = await runCommandHere(["doctor", "--json"], { environment });
  const { checks } = JSON.parse(stdout) as { checks: { check: string; ok: boolean; message: string }[] };
  const found = checks.find(({ check }) => check === "upstreams");
  expect(found).toMatchObject({ ok: false, message: expect.stringContaining(absent.key) });
  expect(found?.message).toContain(absent.header);
});

test("a route is back soon after the file with its secret appears", async () => {
  using folder = createDataDirectory();
  const path = join(folder.path, "key");
  process.env[`${filed}_FILE`] = path;
  try {
    expect(await post("/chat/completions", { model: "filed", messages })).toMatchObject({ status: 503 });
    writeFileSync(path, "sk-filed");
    const listBack = () => chat.gateway.logs.filter(({ msg }) => msg === "upstream fault resolved");
    await waitUntil("the route to be back", () => listBack().length > 0);
    expect(listBack()).toMatchObject([{ upstream: "filed" }]);
    expect(await post("/chat/completions", { model: "filed", messages })).toMatchObject({ status: 200 });
    expect(chat.upstream.requests.at(-1)?.apiKey).toBe("sk-filed");
  } finally {
    delete process.env[`${filed}_FILE`];
  }
});

test("a running task waits for its provider's secret, and ends when that is back", async () => {
  const variable = "SLUICE_TEST_TASK_KEY";
  process.env[variable] = "sk-task";
  const write = (upstream: FakeUpstreams, name: string): string =>
    writeStageCatalog(upstream, {
      providers: [{ id: "queue", kind: "fal", base_url: upstream.falUrl, api_keys: [`\${${variable}}`] }],
      models: [{ ...writePictures("slow", []), name, routes: listRoutes(["queue"]) }],
      prices: [{ model: "slow", billing_type: "per_call", unit: "call", price: "0.10" }],
    });
  try {
    await using stage = await openTaskStage({ catalog: (upstream) => write(upstream, "First") });
    const artist = await stage.createCaller();
    const gate = createGate();
    stage.media.script({ beforeFinish: gate });
    const { id } = await artist.submitImage("slow", "A barn");
    const countPolls = () => stage.media.calls.filter(({ method }) => method === "GET").length;
    await waitUntil("the first poll", () => countPolls() > 0);
    const countLogs = (text: string) => stage.gateway.logs.filter(({ msg }) => msg === text).length;
    delete process.env[variable];
    const renamed = await stage.gateway.applyCatalog(write(stage.upstream, "Second"));
    expect(renamed.kind).toBe("accepted");
    await waitUntil("the provider to be out of service", () => countLogs("upstream out of service") === 1);
    const failed = countLogs("upstream failed");
    await waitUntil("a poll without the secret", () => countLogs("upstream failed") > failed);
    expect(await artist.readTask(id)).toMatchObject({ status: "processing" });
    process.env[variable] = "sk-task";
    gate.open();
    expect(await artist.awaitTask(id)).toMatchObject({ status: "succeeded" });
    const keys = stage.media.calls
      .filter(({ path }) => !path.includes("/made/"))
      .map(({ headers }) => headers.authorization);
    expect(new Set(keys)).toEqual(new Set(["Key sk-task"]));
  } finally {
    delete process.env[variable];
  }
});
