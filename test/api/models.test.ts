import { Ajv } from "ajv";
import OpenAI, { AuthenticationError } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { revokeApiKey } from "../../src/features/accounts/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

type OpenApiDocument = {
  paths: Record<
    string,
    { get: { responses: Record<number, { content: { "application/json": { schema: object } } }> } }
  >;
};

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  key = (await gateway.createCaller()).key;
});
afterAll(() => gateway[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) =>
  fetch(`${gateway.baseUrl}${path}`, { headers });

test("the official OpenAI client lists the models with a key from the database", async () => {
  const client = new OpenAI({ apiKey: key, baseURL: gateway.baseUrl });
  const models = await Array.fromAsync(client.models.list());
  expect(models).toEqual([
    expect.objectContaining({
      id: "sandbox-chat",
      object: "model",
      owned_by: "sluice",
      created: expect.any(Number),
      name: "Sandbox Chat",
      type: "chat",
      capabilities: ["chat", "streaming"],
    }),
  ]);
});

test("the official OpenAI client sees the code, the type and the request id of an error", async () => {
  const client = new OpenAI({ apiKey: "sk-slc-nonsense", baseURL: gateway.baseUrl, maxRetries: 0 });
  const error = await client.models.list().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AuthenticationError);
  expect(error).toMatchObject({ status: 401, code: "invalid_api_key", type: "authentication_error", param: null });
  expect(error).toHaveProperty("requestID", expect.stringMatching(/^req_/));
});

test("the answer is what the OpenAPI document promises", async () => {
  const document = (await (await fetch(`${gateway.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
  const operation = document.paths["/models"]?.get;
  const ajv = new Ajv({ strict: false });
  for (const response of [await get("/models"), await get("/models", {}), await get("/models?colour=red")]) {
    const schema = operation?.responses[response.status]?.content["application/json"].schema;
    const validate = ajv.compile({ ...schema, additionalProperties: false });
    expect(validate(await response.json()), JSON.stringify(validate.errors)).toBe(true);
  }
});

test.each([
  ["no header", {}, "missing_api_key"],
  ["another scheme", { authorization: "Basic dTpw" }, "missing_api_key"],
  ["an empty key", { authorization: "Bearer " }, "missing_api_key"],
  ["a key with a wrong checksum", { authorization: `Bearer sk-slc-${"a".repeat(36)}` }, "invalid_api_key"],
  ["a key of another service", { authorization: "Bearer sk-proj-abcdefgh" }, "invalid_api_key"],
])("%s is a 401 that says how to authenticate", async (_name, headers, code) => {
  const response = await get("/models", headers);
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(await response.json()).toEqual({
    error: { message: expect.any(String), type: "authentication_error", param: null, code },
    request_id: response.headers.get("x-request-id"),
  });
});

test("a well-formed key that was never issued is invalid", async () => {
  await using other = await startGateway();
  const { key: foreignKey } = await other.createCaller();
  const response = await get("/models", { authorization: `Bearer ${foreignKey}` });
  expect(await response.json()).toMatchObject({ error: { code: "invalid_api_key" } });
});

test("a revoked key stops working and is told apart from an unknown one", async () => {
  const caller = await gateway.createCaller();
  expect((await get("/models", { authorization: `Bearer ${caller.key}` })).status).toBe(200);
  await revokeApiKey({ database: gateway.database, clock: systemClock }, caller.keyId);
  const response = await get("/models", { authorization: `bearer ${caller.key}` });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { code: "revoked_api_key" } });
});

test("a mistyped query parameter is named, not ignored", async () => {
  const response = await get("/models?capabilty=vision");
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "unknown_parameter", param: "capabilty" } });
});
