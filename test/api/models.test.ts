import { Ajv } from "ajv";
import OpenAI, { AuthenticationError, NotFoundError } from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { voiceNames } from "../../packages/sandbox/src/studio/speech/voices.ts";
import { createPlan, updateAccount } from "../../src/features/accounts/index.ts";
import { modelTypes } from "../../src/features/catalog/index.ts";
import { writeCatalog } from "../harness/catalog-source.ts";
import { writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { openChatGateway } from "../harness/chat/chat-gateway.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";

type ModelList = { object: string; data: { id: string; type: string; status: string; capabilities: string[] }[] };
type DescribedAnswer = { $ref?: string; content?: { "application/json": { schema: object } } };
type OpenApiDocument = {
  paths: Record<string, { get: { responses: Record<number, DescribedAnswer> } }>;
  components: { responses: Record<string, DescribedAnswer> };
};

const stages = { script: { chat: "part" } };

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  key = (await gateway.createCaller()).key;
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function listIds(on: TestGateway, withKey: string, query = ""): Promise<string[]> {
  const list = (await (await on.get(`/models${query}`, withKey)).json()) as ModelList;
  return list.data.map(({ id }) => id);
}

describe("with the official OpenAI client", () => {
  test("the sandbox lists one model of each type, with every field of the contract", async () => {
    const client = new OpenAI({ apiKey: key, baseURL: gateway.baseUrl });
    const models = await Array.fromAsync(client.models.list());
    expect(models.map((model) => (model as unknown as { type: string }).type)).toEqual([
      "chat",
      "image",
      "video",
      "avatar",
      "drama",
      "speech",
      "embedding",
      "transcription",
    ]);
    for (const model of models) {
      expect(model).toEqual({
        id: expect.stringMatching(/^sandbox-/),
        object: "model",
        created: expect.any(Number),
        owned_by: "sluice",
        name: expect.any(String),
        type: expect.any(String),
        logo: expect.stringMatching(/^http:\/\/localhost:4242\/logos\/[a-z]+\.svg$/),
        description: expect.any(String),
        advantages: expect.any(Array),
        scenarios: expect.any(Array),
        status: "available",
        capabilities: expect.any(Array),
      });
    }
  });

  test("each model has a public logo", async () => {
    const client = new OpenAI({ apiKey: key, baseURL: gateway.baseUrl });
    const models = (await Array.fromAsync(client.models.list())) as unknown as { type: string; logo: string }[];
    expect(new Set(models.map(({ logo }) => logo)).size).toBe(modelTypes.length);
    for (const { type, logo } of models) {
      const response = await fetch(`${gateway.siteUrl}${new URL(logo).pathname}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/svg+xml; charset=utf-8"]);
      expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
      const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
      expect([type, width, height]).toEqual([type, 64, 64]);
    }
  });

  test("a single model is returned with its limits", async () => {
    const client = new OpenAI({ apiKey: key, baseURL: gateway.baseUrl });
    expect(await client.models.retrieve("sandbox-video")).toMatchObject({
      id: "sandbox-video",
      limits: { durations: [5, 10], aspect_ratios: ["16:9", "9:16", "1:1"], max_prompt_length: 2000 },
    });
  });

  test("an error has its status, code, type, param and request id", async () => {
    const client = new OpenAI({ apiKey: "sk-slc-nonsense", baseURL: gateway.baseUrl, maxRetries: 0 });
    const error = await client.models.list().then(null, (reason: unknown) => reason);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: "invalid_api_key", type: "authentication_error", param: null });
    expect(error).toHaveProperty("requestID", expect.stringMatching(/^req_/));
    const other = new OpenAI({ apiKey: key, baseURL: gateway.baseUrl, maxRetries: 0 });
    const missing = await other.models.retrieve("no/such-model").then(null, (reason: unknown) => reason);
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({
      status: 404,
      code: "model_unavailable",
      type: "model_unavailable",
      param: "model",
    });
  });
});

test("the sandbox offers every voice of its studio", async () => {
  const { limits } = (await (await gateway.get("/models/sandbox-speech", key)).json()) as {
    limits: { voices: string[] };
  };
  expect(limits.voices.toSorted()).toEqual(voiceNames.toSorted());
});

describe("a drama", () => {
  test("lists its features and its maximum video length, and none of its underlying models", async () => {
    const response = await gateway.get("/models/sandbox-drama", key);
    const text = await response.text();
    const { limits, capabilities, ...model } = JSON.parse(text) as Record<string, unknown>;
    expect([limits, capabilities]).toEqual([
      { durations: [60], aspect_ratios: ["16:9", "9:16", "1:1"], max_prompt_length: 20_000 },
      ["script_generation", "role_analysis", "storyboard", "drama_video"],
    ]);
    expect(Object.keys(model)).toEqual(
      ["id", "object", "created", "owned_by", "name", "type", "logo", "description"].concat([
        "advantages",
        "scenarios",
        "status",
      ]),
    );
    expect(text).not.toMatch(/sandbox-(?!drama)|stages|routes/);
  });

  test("has the health of its underlying models, and the list shows it at once", async () => {
    await using chat = await openChatGateway({
      catalog: (upstream) =>
        writeCatalogOf(upstream, {
          models: [
            { id: "writer", type: "drama", capabilities: ["script_generation"], limits: {}, stages },
            // A model without a price is not listed.
            { id: "part", routes: [{ provider: "open", upstream_model: `${canary}-part` }] },
            { id: "twin", routes: [{ provider: "open", upstream_model: `${canary}-part` }] },
          ],
          prices: [{ model: "writer", billing_type: "per_call", unit: "call", price: "1" }, writePrice("twin")],
        }),
    });
    const caller = await chat.createCaller();
    const listStatuses = async () => {
      const list = (await (await chat.gateway.get("/models", caller.key)).json()) as ModelList;
      return list.data.map(({ id, status }) => `${id} ${status}`);
    };
    expect(await listStatuses()).toEqual(["writer available", "twin available"]);
    chat.upstream.scriptFor({ model: `${canary}-part` }, { status: 429, headers: { "retry-after": "60" } });
    const response = await caller.post({ model: "twin", messages: [{ role: "user", content: "Hello" }] });
    expect(response.status).toBe(503);
    expect(await listStatuses()).toEqual(["writer unavailable", "twin unavailable"]);
    expect((await chat.gateway.get("/models/part", caller.key)).status).toBe(404);
  });
});

test("filters combine", async () => {
  expect(await listIds(gateway, key, "?type=video")).toEqual(["sandbox-video"]);
  expect(await listIds(gateway, key, "?capability=vision&status=available")).toEqual(["sandbox-chat"]);
  expect(await listIds(gateway, key, "?type=video&capability=vision")).toEqual([]);
  expect(await listIds(gateway, key, "?status=deprecated")).toEqual([]);
});

test.each([
  ["?type=music", "invalid_parameter", "type", "chat, image, video"],
  ["?capability=flying", "invalid_parameter", "capability", "text_to_image"],
  ["?status=great", "invalid_parameter", "status", "available, degraded"],
  ["?type=chat&type=image", "invalid_parameter", "type", ""],
  ["?capabilty=vision", "unknown_parameter", "capabilty", ""],
])("%s is a 400 that names the parameter and the allowed values", async (query, code, param, allowed) => {
  const response = await gateway.get(`/models${query}`, key);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code, param, message: expect.stringContaining(allowed), type: "invalid_request_error" },
  });
});

test("responses match the OpenAPI document, errors included", async () => {
  const document = (await (await fetch(`${gateway.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
  const ajv = new Ajv({ strict: false, formats: { "date-time": true } });
  const calls: [string, string, string?][] = [
    ["/models", "/models"],
    ["/models", "/models?colour=red"],
    ["/models", "/models", "no-key"],
    ["/models/{model_id}", "/models/sandbox-image"],
    ["/models/{model_id}", "/models/none"],
    ["/pricing/models", "/pricing/models"],
  ];
  for (const [path, url, wrongKey] of calls) {
    const response = await gateway.get(url, wrongKey ?? key);
    const described = document.paths[path]?.get.responses[response.status];
    // Errors common to all endpoints are described once.
    const shared = described?.$ref?.split("/").at(-1) ?? "";
    const schema = (described?.content ?? document.components.responses[shared]?.content)?.["application/json"].schema;
    const validate = ajv.compile({ ...schema, additionalProperties: false });
    expect(validate(await response.json()), `${url} ${JSON.stringify(validate.errors)}`).toBe(true);
  }
});

test("an id may contain slashes, encoded or not", async () => {
  await using own = await startGateway();
  await own.applyCatalog(writeCatalog({ models: [{ id: "house/big:v2" }], prices: [{ model: "house/big:v2" }] }));
  const caller = await own.createCaller();
  await waitUntil("the new catalog", async () => (await listIds(own, caller.key)).includes("house/big:v2"));
  for (const path of ["/models/house/big:v2", "/models/house%2Fbig%3Av2"]) {
    expect(await (await own.get(path, caller.key)).json()).toMatchObject({ id: "house/big:v2", limits: {} });
  }
});

test("no customer-facing response names the upstream or its model", async () => {
  await using own = await startGateway();
  await own.applyCatalog(writeCatalog({ models: [{ id: "m" }], prices: [{ model: "m" }] }));
  const { key: ownKey } = await own.createCaller();
  await waitUntil("the new catalog", async () => (await listIds(own, ownKey)).includes("m"));
  for (const path of ["/models", "/models/m", "/pricing/models", "/models/canary-model", "/models?type=canary"]) {
    const response = await own.get(path, ownKey);
    // The error for a missing model repeats the caller's own word.
    const body = (await response.text()).replace("There is no model `canary-model`", "");
    expect([...response.headers].join() + body).not.toContain("canary");
  }
});

test("a model of another plan is not listed, and is answered as missing", async () => {
  await using own = await startGateway();
  await createPlan(own.parts, { id: "pro", name: "Pro", limits: {} });
  const models = [{ id: "open" }, { id: "exclusive", plans: ["pro"] }];
  await own.applyCatalog(writeCatalog({ models, prices: [{ model: "open" }, { model: "exclusive" }] }));
  const caller = await own.createCaller();
  await waitUntil("the new catalog", async () => (await listIds(own, caller.key)).includes("open"));
  expect(await listIds(own, caller.key)).toEqual(["open"]);
  type Missing = { error: { message: string } };
  const hidden = (await (await own.get("/models/exclusive", caller.key)).json()) as Missing;
  const missing = (await (await own.get("/models/missing", caller.key)).json()) as Missing;
  const message = missing.error.message.replace("`missing`", "`exclusive`");
  expect(hidden.error).toEqual({ ...missing.error, message });
  await updateAccount(own.parts, caller.accountId, { planId: "pro" });
  await waitUntil("the account's new plan", async () => (await listIds(own, caller.key)).length === 2);
});

test("a deprecated model has a matching status, date and headers until it is removed", async () => {
  const clock = createTestClock(new Date("2026-06-01T00:00:00Z"));
  await using own = await startGateway({ clock });
  const dates = { deprecated_at: "2026-06-02T00:00:00Z", shutdown_date: "2026-06-03T00:00:00Z" };
  await own.applyCatalog(writeCatalog({ models: [{ id: "old", ...dates }], prices: [{ model: "old" }] }));
  const { key: ownKey } = await own.createCaller();
  await waitUntil("the new catalog", async () => (await listIds(own, ownKey)).includes("old"));
  expect((await own.get("/models/old", ownKey)).headers.has("deprecation")).toBe(false);
  clock.advance(24 * 3_600_000);
  const deprecated = await own.get("/models/old", ownKey);
  expect(deprecated.headers.get("deprecation")).toBe("@1780358400");
  expect(deprecated.headers.get("sunset")).toBe("Wed, 03 Jun 2026 00:00:00 GMT");
  expect(await deprecated.json()).toMatchObject({ status: "deprecated", shutdown_date: "2026-06-03T00:00:00Z" });
  expect(await listIds(own, ownKey, "?status=deprecated")).toEqual(["old"]);
  clock.advance(24 * 3_600_000);
  expect(await listIds(own, ownKey)).toEqual([]);
  expect((await own.get("/models/old", ownKey)).status).toBe(404);
});

test("a model without routes is listed as unavailable; one without a price is not listed", async () => {
  await using own = await startGateway();
  const models = [
    { id: "unrouted", routes: [] },
    { id: "unpriced", routes: [] },
  ];
  await own.applyCatalog(writeCatalog({ models, prices: [{ model: "unrouted" }] }));
  const { key: ownKey } = await own.createCaller();
  await waitUntil("the new catalog", async () => (await listIds(own, ownKey)).includes("unrouted"));
  const list = (await (await own.get("/models", ownKey)).json()) as ModelList;
  expect(list.data.map(({ id, status }) => [id, status])).toEqual([["unrouted", "unavailable"]]);
  expect((await own.get("/models/unpriced", ownKey)).status).toBe(404);
});

test("a disabled preview endpoint is a 501 that clients do not retry, and other endpoints still work", async () => {
  await using own = await startGateway({ settings: { disabled_endpoints: ["getModel"] } });
  const { key: ownKey } = await own.createCaller();
  const response = await own.get("/models/sandbox-chat", ownKey);
  expect(response.status).toBe(501);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toMatchObject({ error: { code: "endpoint_not_released", type: "api_error" } });
  expect((await own.get("/pricing/models", ownKey)).status).toBe(200);
  expect(await listIds(own, ownKey)).toHaveLength(modelTypes.length);
});

test("a key for calls that name a model may list models; a key without such calls may not", async () => {
  await using own = await startGateway();
  for (const [scope, status] of [
    ["chat", 200],
    ["speech", 200],
    ["dramas", 200],
    ["files", 403],
    ["balance", 403],
  ] as const) {
    const caller = await own.createCaller({ endpoints: [scope] });
    const seen = [await own.get("/models", caller.key), await own.get("/models/sandbox-chat", caller.key)];
    expect(
      seen.map((response) => response.status),
      scope,
    ).toEqual([status, status]);
    expect((await own.get("/pricing/models", caller.key)).status, scope).toBe(403);
  }
});
