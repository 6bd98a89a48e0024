// @module-tag slow
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAIEmbeddings } from "@langchain/openai";
import { embed, embedMany } from "ai";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";

const models = ["open", "google", "packaged", "sandbox-embedding"] as const;

/** Each has its own routes, so that a circuit opened in one test does not affect another. */
const faults = [
  { what: "has fewer vectors than inputs", behaviour: { extraCount: -1 } },
  { what: "has more vectors than inputs", behaviour: { extraCount: 1 } },
  { what: "is not JSON", behaviour: { body: "<html>" } },
  {
    what: "has an invalid vector",
    behaviour: { body: '{"data":[{"index":0,"embedding":[1,"2"]},{"index":1,"embedding":[1,2]}]}' },
  },
  {
    what: "has a truncated number in base64",
    behaviour: { body: '{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}' },
  },
  { what: "contains an error", behaviour: { body: `{"error":{"message":"${canary}"}}` } },
  { what: "is an error", behaviour: { status: 500 } },
].map((fault, number) => ({ ...fault, model: `pair-${number}` }));

let stage: ChatGateway;
let caller: ChatCaller;

function writeCatalog(upstream: FakeUpstreams): string {
  const embedding = {
    type: "embedding",
    capabilities: ["text_embedding", "dimensions"],
    limits: { context_window: 8192, max_dimensions: 512 },
  };
  const routeTo = (provider: string) => [{ provider, upstream_model: `${canary}-${provider}` }];
  const spare = { kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: [`\${FAKE_UPSTREAM_KEY}`] };
  const price = { cached_input_price: undefined, output_price: undefined };
  const ids = [...models, "free", "plain", "bare", ...faults.map(({ model }) => model)];
  return writeCatalogOf(upstream, {
    providers: [
      { id: "sandbox", kind: "sandbox" },
      ...faults.flatMap(({ model }) => [`${model}-1`, `${model}-2`].map((id) => ({ id, ...spare }))),
      { id: "bare", ...spare, unsupported_fields: ["dimensions", "encoding_format"] },
    ],
    models: [
      { id: "open", ...embedding, routes: routeTo("open") },
      { id: "google", ...embedding, routes: routeTo("google") },
      { id: "packaged", ...embedding, routes: routeTo("packaged") },
      { id: "sandbox-embedding", ...embedding, routes: [{ provider: "sandbox", upstream_model: "embedding" }] },
      { id: "free", ...embedding, routes: routeTo("open") },
      ...faults.map(({ model }) => ({
        ...{ id: model, ...embedding },
        routes: [...routeTo(`${model}-1`), { ...routeTo(`${model}-2`)[0], priority: 1 }],
      })),
      {
        id: "plain",
        ...embedding,
        capabilities: ["text_embedding"],
        limits: { max_inputs: 2 },
        routes: routeTo("open"),
      },
      { id: "bare", ...embedding, routes: routeTo("bare") },
      { id: "talk", routes: routeTo("open") },
    ],
    prices: [
      ...ids.map((id) => writePrice(id, { ...price, ...(id === "free" ? { input_price: "0" } : {}) })),
      writePrice("talk"),
    ],
  });
}

beforeAll(async () => {
  stage = await openChatGateway({ catalog: writeCatalog });
  caller = await stage.createCaller({ cash: "10000" });
});
afterEach(() => expect(stage.upstream.embeddings.scriptsLeft()).toBe(0));
afterAll(() => stage[Symbol.asyncDispose]());

type Init = { headers?: Record<string, string>; by?: ChatCaller; signal?: AbortSignal };

function post(body: unknown, { headers = {}, by = caller, signal }: Init = {}): Promise<Response> {
  return stage.fetch(`${stage.gateway.baseUrl}/embeddings`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { authorization: `Bearer ${by.key}`, "content-type": "application/json", ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
}

type Answer = {
  data: { index: number; embedding: number[] | string }[];
  usage: { prompt_tokens: number; total_tokens: number; charge: string };
};

async function ask(body: unknown, init: Init = {}): Promise<Answer> {
  const response = await post(body, init);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as Answer;
}

async function readProblem(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}

function decode(embedding: number[] | string | undefined): number[] {
  const bytes = Buffer.from(String(embedding), "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

describe.each(models)("%s", (model) => {
  test("returns one vector per text, the same as numbers and as base64", async () => {
    const input = ["The gate is open.", "Ein Satz, der länger ist.", "The gate is open."];
    const floats = await ask({ model, input });
    const packed = await ask({ model, input, encoding_format: "base64" });
    expect(floats.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(floats.data[2]?.embedding).toEqual(floats.data[0]?.embedding);
    expect(floats.data[1]?.embedding).not.toEqual(floats.data[0]?.embedding);
    for (const [index, { embedding }] of packed.data.entries()) {
      const numbers = floats.data[index]?.embedding as number[];
      expect(decode(embedding)).toEqual(numbers.map(Math.fround));
    }
    expect(floats).toMatchObject({ object: "list", model, usage: { charge: expect.stringMatching(/^0\.\d+$/) } });
    expect(floats.usage.prompt_tokens).toBeGreaterThan(0);
    expect(packed.usage).toEqual(floats.usage);
  });

  test("returns vectors of the requested dimensions", async () => {
    const { data } = await ask({ model, input: "short", dimensions: 5 });
    expect(data[0]?.embedding).toHaveLength(5);
  });

  test("accepts more texts than its vendor accepts at once", async () => {
    const input = Array.from({ length: 230 }, (_, index) => `Text ${index}`);
    const { data } = await ask({ model, input });
    const [last] = (await ask({ model, input: "Text 229" })).data;
    expect(data).toHaveLength(230);
    expect(data[229]?.embedding).toEqual(last?.embedding);
  });
});

describe("clients with their defaults", () => {
  test("the OpenAI SDK, which requests base64 and decodes it", async () => {
    const { data, usage } = await caller.client.embeddings.create({ model: "open", input: ["a", "b"] });
    const floats = await ask({ model: "open", input: ["a", "b"] });
    expect(data.map(({ embedding }) => embedding)).toEqual(floats.data.map(({ embedding }) => embedding));
    expect(usage).toMatchObject({ prompt_tokens: 6, total_tokens: 6 });
    expect(stage.upstream.embeddings.asks.at(-2)?.fields).toEqual({
      ...{ model: `${canary}-open`, input: ["a", "b"], encoding_format: "base64" },
    });
  });

  test("the AI SDK, with both of its packages", async () => {
    const options = { baseURL: stage.gateway.baseUrl, apiKey: caller.key, fetch: stage.fetch };
    for (const provider of [createOpenAI(options), createOpenAICompatible({ ...options, name: "sluice" })]) {
      const model = provider.embeddingModel("open");
      const one = await embed({ model, value: "a", maxRetries: 0 });
      const many = await embedMany({ model, values: ["a", "b"], maxRetries: 0 });
      expect(one.embedding).toHaveLength(8);
      expect(many.embeddings[0]).toEqual(one.embedding);
      expect(many.usage).toEqual({ tokens: 6 });
    }
  });

  test("LangChain, which finds the nearest text", async () => {
    const configuration = { baseURL: stage.gateway.baseUrl, fetch: stage.fetch };
    const store = new OpenAIEmbeddings({
      model: "sandbox-embedding",
      apiKey: caller.key,
      configuration,
      maxRetries: 0,
    });
    const texts = ["I forgot my login credentials.", "Bake the bread for an hour.", "It will rain tomorrow."];
    const documents = await store.embedDocuments(texts);
    const query = await store.embedQuery("How do I reset my password?");
    const near = documents.map((vector) => vector.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0));
    expect(near.indexOf(Math.max(...near))).toBe(0);
  });
});

describe("tokens", () => {
  test("are accepted as one list and as several, and counted one by one", async () => {
    stage.upstream.embeddings.script({ tokens: null }, { tokens: null });
    const one = await ask({ model: "open", input: [1, 22, 333] });
    const two = await ask({ model: "open", input: [[1, 22, 333], [7]] });
    expect([one.data.length, two.data.length]).toEqual([1, 2]);
    expect(two.data[0]?.embedding).toEqual(one.data[0]?.embedding);
    expect([one.usage, two.usage]).toMatchObject([{ prompt_tokens: 3, charge: "0.003" }, { prompt_tokens: 4 }]);
  });

  test("may be as many as clients send at once: a thousand lists of them", async () => {
    const input = Array.from({ length: 1000 }, (_, index) => Array.from({ length: 250 }, (_, at) => index + at));
    const { data } = await ask({ model: "free", input });
    expect(data).toHaveLength(1000);
  });

  test("are rejected where the upstream takes texts only", async () => {
    expect(await readProblem(await post({ model: "google", input: [1, 2] }))).toMatchObject({
      ...{ status: 400, code: "unsupported_capability", param: "input" },
    });
  });
});

describe("an upstream's response", () => {
  test("is converted from another format, and put in the order of the inputs", async () => {
    const expected = await ask({ model: "open", input: ["a", "b"] });
    stage.upstream.embeddings.script({ isDeaf: true, isReversed: true });
    const { data } = await ask({ model: "open", input: ["a", "b"], encoding_format: "base64" });
    expect(data.map(({ embedding }) => decode(embedding))).toEqual(expected.data.map(({ embedding }) => embedding));
    const bare = await ask({ model: "bare", input: ["a", "b"], encoding_format: "base64" });
    expect(bare.data).toEqual(data);
    expect(stage.upstream.embeddings.asks.at(-1)?.fields).not.toHaveProperty("encoding_format");
  });

  test.each(faults)(
    "that $what fails: the next route is called, and nothing is charged for the first",
    async (fault) => {
      const own = await stage.createCaller();
      stage.upstream.embeddings.script(fault.behaviour);
      const { data, usage } = await ask({ model: fault.model, input: ["a", "b"] }, { by: own });
      expect(data).toHaveLength(2);
      expect(usage).toEqual({ prompt_tokens: 6, total_tokens: 6, charge: "0.006" });
      expect(await own.listCharges()).toMatchObject([{ items: { input_tokens: 6 }, paid: "0.006" }]);
    },
  );

  test("with vectors of another length than requested is rejected by name", async () => {
    stage.upstream.embeddings.script({ body: '{"data":[{"index":0,"embedding":[1,2,3]}]}' });
    expect(await readProblem(await post({ model: "open", input: "a", dimensions: 2 }))).toMatchObject({
      ...{ status: 400, code: "invalid_parameter", param: "dimensions" },
    });
  });
});

describe("money", () => {
  test("is held by the size of the input, and charged by the upstream's count", async () => {
    const own = await stage.createCaller();
    const gate = stage.upstream.gate();
    stage.upstream.embeddings.script({ before: gate, tokens: 7 });
    const asked = post({ model: "open", input: "x".repeat(100) }, { by: own });
    await gate.reached();
    await waitUntil("the hold", async () => (await own.listHolds()).length === 1);
    expect(Number((await own.readBalance()).frozen)).toBeGreaterThan(0.1);
    gate.open();
    expect(((await (await asked).json()) as Answer).usage).toEqual({
      prompt_tokens: 7,
      total_tokens: 7,
      charge: "0.007",
    });
    expect(await own.readBalance()).toEqual({ available: "9.993", frozen: "0.00" });
  });

  test("is charged by our own count if the upstream reports none or an impossible one", async () => {
    const own = await stage.createCaller();
    stage.upstream.embeddings.script({ tokens: null }, { tokens: 1_000_000_000 });
    for (const _ of [1, 2]) await ask({ model: "open", input: "x".repeat(100) }, { by: own });
    const charge = { items: { counted_input_tokens: 25 }, paid: "0.025" };
    expect(await own.listCharges()).toMatchObject([charge, charge]);
  });

  test("that is missing is a 402, and a free model needs none", async () => {
    const own = await stage.createCaller({ cash: "0.01" });
    expect(await readProblem(await post({ model: "open", input: "x".repeat(100) }, { by: own }))).toMatchObject({
      ...{ status: 402, code: "insufficient_balance" },
    });
    expect((await ask({ model: "free", input: "x" }, { by: own })).usage.charge).toBe("0.00");
    expect(await own.listCharges()).toEqual([]);
  });

  test("is charged to a caller who disconnects, too", async () => {
    const own = await stage.createCaller();
    const gate = stage.upstream.gate();
    const hangUp = new AbortController();
    stage.upstream.embeddings.script({ before: gate, tokens: 9 });
    const asked = post({ model: "open", input: "hello" }, { by: own, signal: hangUp.signal }).catch(() => null);
    await gate.reached();
    hangUp.abort();
    await asked;
    await waitUntil("the hang-up to be felt", () =>
      stage.gateway.logs.some(({ aborted, account_id }) => aborted === true && account_id === own.accountId),
    );
    gate.open();
    await waitUntil("the charge", async () => (await own.listCharges()).length === 1);
    expect(await own.listCharges()).toMatchObject([{ items: { input_tokens: 9, hung_up: 1 }, paid: "0.009" }]);
  });
});

describe("a second request with the same key", () => {
  test("returns the first response and charges it once; another request is rejected", async () => {
    const own = await stage.createCaller();
    const headers = { "idempotency-key": "once" };
    const first = await post({ model: "open", input: "a" }, { by: own, headers });
    const again = await post({ model: "open", input: "a" }, { by: own, headers });
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await own.listCharges()).toHaveLength(1);
    expect((await post({ model: "open", input: "b" }, { by: own, headers })).status).toBe(422);
  });

  test("gets an error if the vectors were created but too large to store", async () => {
    const headers = { "idempotency-key": "large" };
    const body = { model: "sandbox-embedding", input: Array.from({ length: 700 }, (_, index) => `Text ${index}`) };
    await ask(body, { headers });
    expect(await readProblem(await post(body, { headers }))).toMatchObject({
      ...{ status: 409, code: "already_completed", message: expect.stringContaining("prompt tokens") },
    });
  });
});

describe("rejected before any upstream is called", () => {
  const good = { model: "open", input: "a" };
  test.each([
    ["no input", { model: "open" }, "missing_parameter", "input"],
    ["an empty text", { ...good, input: "" }, "invalid_parameter", "input"],
    ["an empty list", { ...good, input: [] }, "invalid_parameter", "input"],
    ["an empty text among others", { ...good, input: ["a", ""] }, "invalid_parameter", "input[1]"],
    ["texts and tokens together", { ...good, input: ["a", 1] }, "invalid_parameter", "input[1]"],
    ["an invalid token", { ...good, input: [1.5] }, "invalid_parameter", "input[0]"],
    ["too many texts", { ...good, input: Array.from({ length: 2049 }, () => "a") }, "invalid_parameter", "input"],
    [
      "more texts than the model accepts",
      { ...good, model: "plain", input: ["a", "b", "c"] },
      "invalid_parameter",
      "input",
    ],
    ["a text that cannot fit", { ...good, input: "x".repeat(131_073) }, "context_length_exceeded", "input"],
    ["too many tokens", { ...good, input: [Array(8193).fill(1)] }, "context_length_exceeded", "input"],
    ["an unknown format", { ...good, encoding_format: "int8" }, "invalid_parameter", "encoding_format"],
    ["dimensions the model lacks", { ...good, dimensions: 513 }, "invalid_parameter", "dimensions"],
    [
      "dimensions for a model of fixed length",
      { ...good, model: "plain", dimensions: 2 },
      "unsupported_capability",
      "dimensions",
    ],
    ["unsupported dimensions", { ...good, model: "bare", dimensions: 2 }, "unsupported_capability", "dimensions"],
    ["another vendor's field", { ...good, input_type: "query" }, "unknown_parameter", "input_type"],
    ["a chat model", { ...good, model: "talk" }, "unsupported_capability", "model"],
  ])("%s", async (_, body, code, param) => {
    const sent = stage.upstream.embeddings.asks.length;
    expect(await readProblem(await post(body))).toMatchObject({ status: 400, code, param });
    expect(stage.upstream.embeddings.asks).toHaveLength(sent);
  });

  test("a model that does not exist, a key of another scope, and embeddings as chat", async () => {
    expect(await readProblem(await post({ ...good, model: "nobody" }))).toMatchObject({
      ...{ status: 404, code: "model_unavailable", param: "model" },
    });
    const chatOnly = await stage.createCaller({ endpoints: ["chat"] });
    expect(await readProblem(await post(good, { by: chatOnly }))).toMatchObject({
      status: 403,
      code: "key_not_permitted",
    });
    const embeddingOnly = await stage.createCaller({ endpoints: ["embeddings"] });
    expect((await post(good, { by: embeddingOnly })).status).toBe(200);
    const chat = await caller.post({ model: "open", messages: [{ role: "user", content: "a" }] });
    expect(await readProblem(chat)).toMatchObject({ status: 400, code: "unsupported_capability", param: "model" });
  });
});

test("the tokens-per-minute limit counts embedded tokens", async () => {
  const own = await stage.createCaller({ limits: { tokensPerMinute: 40 } });
  await ask({ model: "open", input: "a" }, { by: own });
  const refused = await post({ model: "open", input: "x".repeat(200) }, { by: own });
  expect(await readProblem(refused)).toMatchObject({ status: 429, code: "token_limit_exceeded" });
});

test("vectors for a client that requests numbers are the same", async () => {
  const client = new OpenAI({ apiKey: caller.key, baseURL: stage.gateway.baseUrl, fetch: stage.fetch, maxRetries: 0 });
  const floats = await client.embeddings.create({ model: "open", input: "a", encoding_format: "float" });
  const usual = await client.embeddings.create({ model: "open", input: "a" });
  expect(floats.data[0]?.embedding).toEqual(usual.data[0]?.embedding);
});
