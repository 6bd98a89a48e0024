import OpenAI, { RateLimitError } from "openai";
import { expect, test } from "vitest";
import { createPlan, updatePlan } from "../../src/features/accounts/index.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

const second = 1000;

test("every answer to a known caller tells its limits, errors included, and the telling is exact", async () => {
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

test("a caller over the limit is told how long to wait, and that is true", async () => {
  const clock = createTestClock();
  await using gateway = await startGateway({ clock });
  // Reads may be five times as many.
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

test("the account's limit holds for all of its keys together, and comes from its plan", async () => {
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

test("the official OpenAI client waits as told and then succeeds", async () => {
  await using gateway = await startGateway();
  // A read every 20 ms: the client's own wait is long enough.
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

test("a caller without a valid key uses up nobody's limit", async () => {
  await using gateway = await startGateway({ clock: createTestClock() });
  const { key } = await gateway.createCaller();
  for (let number = 0; number < 5; number += 1) await gateway.get("/models", "sk-slc-wrong");
  expect((await gateway.get("/models", key)).headers.get("x-ratelimit-remaining")).toBe("2999");
});
