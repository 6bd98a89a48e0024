// @module-tag slow
import OpenAI, { RateLimitError } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPlan, revokeApiKey, updateAccount, updatePlan } from "../../src/features/accounts/index.ts";
import type { Settings } from "../../src/platform/config/load-settings.ts";
import { previewEndpoints } from "../../src/platform/http/endpoint-table.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

const second = 1000;

test("every response to a known caller carries its exact rate limits, errors included", async () => {
  await using gateway = await startGateway({ clock: createTestClock() });
  const { key } = await gateway.createCaller();
  const first = await gateway.get("/models", key);
  expect(Object.fromEntries(first.headers)).toMatchObject({
    "x-ratelimit-limit": "3000",
    "x-ratelimit-remaining": "2999",
    "x-ratelimit-reset": "1",
    "x-ratelimit-limit-requests": "3000",
    "x-ratelimit-remaining-requests": "2999",
    "x-ratelimit-reset-requests": "20ms",
    "x-ratelimit-limit-tokens": "1000000",
    "x-ratelimit-remaining-tokens": "1000000",
    "x-ratelimit-reset-tokens": "0s",
  });
  const missing = await gateway.get("/models/none", key);
  expect([missing.status, missing.headers.get("x-ratelimit-remaining")]).toEqual([404, "2998"]);
  const mistaken = await gateway.get("/models?type=music", key);
  expect([mistaken.status, mistaken.headers.get("x-ratelimit-remaining")]).toEqual([400, "2997"]);
});

test("a caller over the limit gets a Retry-After, and a retry after it succeeds", async () => {
  const clock = createTestClock();
  await using gateway = await startGateway({ clock });
  // The limit for reads is five times as high.
  const { key } = await gateway.createCaller({ limits: { requestsPerMinute: 2 } });
  const statuses = [];
  for (let number = 0; number < 11; number += 1) statuses.push((await gateway.get("/models", key)).status);
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
  const refused = await gateway.get("/models", key);
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    "retry-after": "6",
    "retry-after-ms": "6000",
    "x-ratelimit-limit": "10",
    "x-ratelimit-remaining": "0",
  });
  expect(await refused.json()).toMatchObject({
    error: {
      code: "rate_limit_exceeded",
      type: "rate_limit_error",
      message: expect.stringContaining("10 reads per minute"),
    },
  });
  clock.advance(6 * second - 1);
  expect((await gateway.get("/models", key)).status).toBe(429);
  clock.advance(1);
  expect((await gateway.get("/models", key)).status).toBe(200);
});

test("the account's limit applies to all of its keys together, and comes from its plan", async () => {
  const clock = createTestClock();
  await using gateway = await startGateway({ clock });
  await createPlan(gateway.parts, { id: "small", name: "Small", limits: { requestsPerMinute: 1 } });
  const { key } = await gateway.createCaller({ planId: "small" });
  const statuses = [];
  for (let number = 0; number < 6; number += 1) statuses.push((await gateway.get("/models", key)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  await updatePlan(gateway.parts, { id: "small", limits: { requestsPerMinute: 100 } });
  const readLimit = async () => (await gateway.get("/models", key)).headers.get("x-ratelimit-limit");
  await waitUntil("the plan's new limit", async () => (await readLimit()) === "500");
  clock.advance(60_000 / 500);
  expect((await gateway.get("/models", key)).status).toBe(200);
});

test("the official OpenAI client waits for the Retry-After and then succeeds", async () => {
  await using gateway = await startGateway();
  // One read every 20 ms: the client's own wait is long enough.
  const { key } = await gateway.createCaller({ limits: { requestsPerMinute: 600 } });
  const client = new OpenAI({ apiKey: key, baseURL: gateway.baseUrl, maxRetries: 5 });
  await Promise.all(Array.from({ length: 3000 / 100 }, () => client.models.list()));
  const strict = await gateway.createCaller({ limits: { requestsPerMinute: 1 } });
  const impatient = new OpenAI({ apiKey: strict.key, baseURL: gateway.baseUrl, maxRetries: 0 });
  for (let number = 0; number < 5; number += 1) await impatient.models.list();
  const error = await impatient.models.list().then(null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ status: 429, code: "rate_limit_exceeded", type: "rate_limit_error" });
});

test("a caller without a valid key uses up no account's limit", async () => {
  await using gateway = await startGateway({ clock: createTestClock() });
  const { key } = await gateway.createCaller();
  for (let number = 0; number < 5; number += 1) await gateway.get("/models", "sk-slc-wrong");
  expect((await gateway.get("/models", key)).headers.get("x-ratelimit-remaining")).toBe("2999");
});

describe("a caller with a valid key gets its rate limits in every response", () => {
  const bodyBytesMax = 10_000;
  let gateway: TestGateway;
  let operations: { method: string; path: string }[];

  beforeAll(async () => {
    gateway = await startGateway({ clock: createTestClock(), settings: { json_body_bytes_max: bodyBytesMax } });
    operations = await listOperations(gateway);
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  /** Every endpoint of the reference, with ids that do not exist. */
  async function listOperations({ baseUrl }: TestGateway) {
    const { paths } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as { paths: Record<string, object> };
    const found = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, "none"),
      })),
    );
    expect(found.length).toBeGreaterThan(35);
    return found;
  }

  /** The status of every operation for a key, and the operations without rate limit headers. */
  async function walk(
    key: string,
    change: (operation: { method: string; path: string }) => RequestInit & { path?: string } = () => ({}),
    { baseUrl }: TestGateway = gateway,
  ) {
    const statuses = new Set<number>();
    const silent: string[] = [];
    for (const operation of operations) {
      const { path = operation.path, headers, ...init } = change(operation);
      const method = init.method ?? operation.method;
      const sent = { authorization: `Bearer ${key}`, ...(headers as Record<string, string> | undefined) };
      const response = await fetch(`${baseUrl}${path}`, { method, ...init, headers: sent });
      await response.body?.cancel();
      statuses.add(response.status);
      const told = ["", "-requests", "-tokens"].every((kind) => response.headers.has(`x-ratelimit-limit${kind}`));
      if (!told) silent.push(`${method} ${path} ${response.status}`);
    }
    return { statuses: [...statuses].toSorted(), silent };
  }

  const takesBody = (method: string): boolean => method === "POST" || method === "PATCH";

  test("403: a key without the scope, from a forbidden address, or of a suspended account", async () => {
    const narrow = await gateway.createCaller({ endpoints: ["models"] });
    const { statuses, silent } = await walk(narrow.key);
    expect([statuses.includes(403), silent]).toEqual([true, []]);
    const foreign = await gateway.createCaller({ addresses: ["192.0.2.0/24"] });
    expect(await walk(foreign.key)).toEqual({ statuses: [403], silent: [] });
    const suspended = await gateway.createCaller();
    await updateAccount(gateway.parts, suspended.accountId, { isSuspended: true });
    expect(await walk(suspended.key)).toEqual({ statuses: [403], silent: [] });
  });

  test("404: an unknown path, an invalid URL, an id that is too long, and a missing resource", async () => {
    const { key } = await gateway.createCaller();
    expect(await walk(key, ({ path }) => ({ path: `${path}/none/none/none` }))).toEqual({
      statuses: [404],
      silent: [],
    });
    expect(await walk(key, ({ path }) => ({ path: `${path}/%zz` }))).toEqual({ statuses: [404], silent: [] });
    const long = "x".repeat(1100);
    const withIds = operations.filter(({ path }) => path.includes("/none"));
    for (const { method, path } of withIds) {
      const response = await fetch(`${gateway.baseUrl}${path.replace("none", long)}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
      });
      expect([method, path, response.status]).toEqual([method, path, 404]);
      expect(response.headers.has("x-ratelimit-limit")).toBe(true);
    }
    for (const { method, path } of withIds.filter((operation) => operation.method === "GET")) {
      const response = await gateway.get(path, key);
      expect([method, path, response.status]).toEqual([method, path, 404]);
      expect(response.headers.has("x-ratelimit-limit")).toBe(true);
    }
  });

  test("405: a method that the path does not have, known or not", async () => {
    const { key } = await gateway.createCaller();
    expect(await walk(key, () => ({ method: "PUT" }))).toEqual({ statuses: [405], silent: [] });
    expect(await walk(key, () => ({ method: "PROPFIND" }))).toEqual({ statuses: [405], silent: [] });
  });

  test("400, 413 and 415: an invalid request", async () => {
    const { key } = await gateway.createCaller();
    const wrongId = { headers: { "x-client-request-id": "x".repeat(600) } };
    expect(await walk(key, () => wrongId)).toEqual({ statuses: [400], silent: [] });
    const withBody = (body: string, type: string) => (operation: { method: string; path: string }) =>
      takesBody(operation.method) ? { body, headers: { "content-type": type } } : {};
    const empty = await walk(key, withBody('{"no_such_field": 1}', "application/json"));
    expect([empty.statuses.includes(400), empty.silent]).toEqual([true, []]);
    const large = await walk(key, withBody(JSON.stringify("x".repeat(bodyBytesMax)), "application/json"));
    expect([large.statuses.includes(413), large.silent]).toEqual([true, []]);
    const foreign = await walk(key, withBody("<a/>", "text/xml"));
    expect([foreign.statuses.includes(415), foreign.silent]).toEqual([true, []]);
  });

  test("429: when the limit is used up", async () => {
    const { key } = await gateway.createCaller({ limits: { requestsPerMinute: 1 } });
    for (let number = 0; number < 5; number += 1) await gateway.get("/models", key);
    await fetch(`${gateway.baseUrl}/files`, { method: "POST", headers: { authorization: `Bearer ${key}` } });
    expect(await walk(key)).toEqual({ statuses: [429], silent: [] });
  });

  test("501: a disabled endpoint, also on a key's first request", async () => {
    const settings = { disabled_endpoints: [...previewEndpoints] } as Partial<Settings>;
    await using closed = await startGateway({ clock: createTestClock(), settings });
    const { key } = await closed.createCaller();
    const { statuses, silent } = await walk(key, () => ({}), closed);
    expect([statuses.includes(501), silent]).toEqual([true, []]);
    // A deliberately disabled endpoint must raise no alarm.
    const lines = closed.logs.filter(({ status }) => status === 501);
    expect(lines.length).toBeGreaterThan(35);
    expect(new Set(lines.map(({ level, error_code, error }) => [level, error_code, error].join(" ")))).toEqual(
      new Set(["info endpoint_not_released "]),
    );
  });

  test("a response before admission uses up no limit and shows no other caller's", async () => {
    const { key } = await gateway.createCaller();
    const readLeft = async (path: string, authorization: string, method = "GET") =>
      (await fetch(`${gateway.baseUrl}${path}`, { method, headers: { authorization } })).headers.get(
        "x-ratelimit-remaining",
      );
    expect(await readLeft("/nothing", `Bearer ${key}`)).toBe("3000");
    expect(await readLeft("/nothing", `Bearer ${key}`, "POST")).toBe("600");
    expect(await readLeft("/models", `Bearer ${key}`)).toBe("2999");
    expect(await readLeft("/nothing", `bearer  ${key}`)).toBe("2999");
    for (const authorization of ["", "Bearer", "Bearer sk-slc-wrong", `Basic ${key}`, `Bearer ${key}x`]) {
      expect(await readLeft("/nothing", authorization)).toBeNull();
    }
    const { key: ended, keyId } = await gateway.createCaller();
    await revokeApiKey(gateway.parts, keyId);
    expect(await readLeft("/nothing", `Bearer ${ended}`)).toBeNull();
    const page = await fetch(`${gateway.siteUrl}/nothing`, { headers: { authorization: `Bearer ${key}` } });
    expect(page.headers.get("x-ratelimit-remaining")).toBeNull();
  });
});
