import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import type { Caller } from "../../lib/caller.ts";
import { type LimitSet, standardLimits } from "../../lib/limit-set.ts";
import { createCountersWithFallback } from "../../platform/counters/counters-with-fallback.ts";
import { createMemoryCounters } from "../../platform/counters/memory-counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { presentLimitHeaders } from "../../platform/http/limit-headers.ts";
import { correctTokens, type Demand, returnSlot, consumeLimits as takeLimits } from "./consume-limit.ts";

const minute = 60_000;

type Limited = Pick<Caller, "accountId" | "lineageId" | "accountLimits" | "keyLimits">;

function createCaller(
  account: Partial<LimitSet>,
  key: Partial<LimitSet> = {},
  lineageId: Caller["lineageId"] = "key_1",
): Limited {
  return { accountId: "acct_1", lineageId, accountLimits: { ...standardLimits, ...account }, keyLimits: key };
}

/** The limit headers of the response. */
async function consumeLimits(...args: Parameters<typeof takeLimits>): Promise<Record<string, string>> {
  return presentLimitHeaders(await takeLimits(...args));
}

function createParts() {
  const clock = createTestClock();
  const counters = createMemoryCounters({ clock });
  const consume = (caller: Limited, kind: "read" | "write" = "write") =>
    consumeLimits(counters, caller, { request: kind });
  /** How many requests pass before one is rejected, and its error. */
  const consumeAll = async (caller: Limited, kind: "read" | "write" = "write") => {
    for (let passed = 0; ; passed += 1) {
      try {
        await consume(caller, kind);
      } catch (refusal) {
        if (!(refusal instanceof AppError)) throw refusal;
        return { passed, refusal };
      }
    }
  };
  return { clock, counters, consume, consumeAll };
}

test("the headers show the requests and tokens left after the request", async () => {
  const { consume } = createParts();
  await consume(createCaller({}));
  expect(await consume(createCaller({}))).toEqual({
    "x-ratelimit-limit": "600",
    "x-ratelimit-remaining": "598",
    "x-ratelimit-reset": "1",
    "x-ratelimit-limit-requests": "600",
    "x-ratelimit-remaining-requests": "598",
    "x-ratelimit-reset-requests": "200ms",
    "x-ratelimit-limit-tokens": "1000000",
    "x-ratelimit-remaining-tokens": "1000000",
    "x-ratelimit-reset-tokens": "0s",
  });
});

test("a request beyond the account's limit is rejected with the limit, the wait and the headers", async () => {
  const { consumeAll } = createParts();
  const { passed, refusal } = await consumeAll(createCaller({ requestsPerMinute: 40 }));
  expect(passed).toBe(40);
  expect(refusal.code).toBe("rate_limit_exceeded");
  expect(refusal.message).toBe("You reached the account's limit of 40 requests per minute. Retry in 1.5s.");
  expect(refusal.headers).toEqual({
    "x-ratelimit-limit": "40",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "60",
    "x-ratelimit-limit-requests": "40",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "1m0s",
    "x-ratelimit-limit-tokens": "1000000",
    "x-ratelimit-remaining-tokens": "1000000",
    "x-ratelimit-reset-tokens": "0s",
    "retry-after": "2",
    "retry-after-ms": "1500",
  });
});

test("a client that waits for Retry-After passes, and not a millisecond earlier", async () => {
  const { clock, consume, consumeAll } = createParts();
  const caller = createCaller({ requestsPerMinute: 7 });
  const { refusal } = await consumeAll(caller);
  clock.advance(Number(refusal.headers["retry-after-ms"]) - 1);
  await expect(consume(caller)).rejects.toThrow("Retry in 1ms.");
  clock.advance(1);
  await consume(caller);
});

test("reads have their own limit, five times as large", async () => {
  const { consumeAll } = createParts();
  const caller = createCaller({ requestsPerMinute: 6 });
  expect(await consumeAll(caller, "write")).toMatchObject({ passed: 6 });
  const { passed, refusal } = await consumeAll(caller, "read");
  expect(passed).toBe(30);
  expect(refusal.message).toContain("the account's limit of 30 reads per minute");
});

test("a key's own limit applies, and its rejected requests don't count against the account", async () => {
  const { consumeAll, consume } = createParts();
  const account = { requestsPerMinute: 10 };
  const { passed, refusal } = await consumeAll(createCaller(account, { requestsPerMinute: 3 }));
  expect(passed).toBe(3);
  expect(refusal.message).toContain("the API key's limit of 3 requests per minute");
  expect(await consumeAll(createCaller(account, { requestsPerMinute: 2 }, "key_2"))).toMatchObject({ passed: 2 });
  expect(await consume(createCaller(account, {}, "key_3"))).toMatchObject({ "x-ratelimit-remaining-requests": "4" });
});

test("if both limits are used up, the error names the one with the longer wait", async () => {
  const { consume, consumeAll } = createParts();
  await consume(createCaller({ requestsPerMinute: 2 }, {}, "key_2"));
  const { passed, refusal } = await consumeAll(createCaller({ requestsPerMinute: 2 }, { requestsPerMinute: 1 }));
  expect(passed).toBe(1);
  expect(refusal.message).toContain("the API key's limit of 1 requests per minute");
  expect(refusal.headers["retry-after"]).toBe("60");
});

test("the keys of one account share its limit, and another account has its own", async () => {
  const { consumeAll, consume } = createParts();
  await consumeAll(createCaller({ requestsPerMinute: 5 }, {}, "key_1"));
  await expect(consume(createCaller({ requestsPerMinute: 5 }, {}, "key_2"))).rejects.toThrow("the account's limit");
  await consume({ ...createCaller({ requestsPerMinute: 5 }), accountId: "acct_2" });
});

test("tokens used by other calls show in the headers and reject no request", async () => {
  const { counters, consume } = createParts();
  const caller = createCaller({ tokensPerMinute: 1000 }, { tokensPerMinute: 600 });
  const taken = (key: string, perMinute: number, cost: number) => ({ key, perMinute, cost });
  await counters.take({ rates: [taken("{acct_1}:tokens", 1000, 100)], leases: [] });
  await counters.take({ rates: [taken("{acct_1}:key_1:tokens", 600, 5000)], leases: [] });
  expect(await consume(caller)).toMatchObject({
    "x-ratelimit-limit": "600",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "500",
    "x-ratelimit-limit-tokens": "600",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "8m20s",
  });
  expect(await consume(createCaller({ tokensPerMinute: 1000 }))).toMatchObject({
    "x-ratelimit-remaining-tokens": "900",
  });
});

test("for each kind the headers show the limit with the least left, on a tie the account's", async () => {
  const { counters, consume } = createParts();
  const caller = createCaller(
    { requestsPerMinute: 600, tokensPerMinute: 1_000_000 },
    { requestsPerMinute: 10, tokensPerMinute: 5000 },
  );
  await counters.take({ rates: [{ key: "{acct_1}:tokens", perMinute: 1_000_000, cost: 999_998 }], leases: [] });
  expect(await consume(caller)).toMatchObject({
    "x-ratelimit-limit": "1000000",
    "x-ratelimit-remaining": "2",
    "x-ratelimit-limit-requests": "10",
    "x-ratelimit-remaining-requests": "9",
    "x-ratelimit-limit-tokens": "1000000",
    "x-ratelimit-remaining-tokens": "2",
  });
  await counters.take({ rates: [{ key: "{acct_1}:key_1:tokens", perMinute: 5000, cost: 4998 }], leases: [] });
  expect(await consume(caller)).toMatchObject({ "x-ratelimit-limit-tokens": "1000000" });
});

test("the unnamed headers show the limit with the smallest share left", async () => {
  const { counters, consume } = createParts();
  const caller = createCaller(
    { requestsPerMinute: 10, tokensPerMinute: 1_000_000 },
    { requestsPerMinute: 5, tokensPerMinute: 1000 },
  );
  // The key has fewer tokens left than the account but a larger share; the requests have the smallest share.
  await counters.take({ rates: [{ key: "{acct_1}:tokens", perMinute: 1_000_000, cost: 100_000 }], leases: [] });
  expect(await consume(caller)).toMatchObject({
    "x-ratelimit-limit": "5",
    "x-ratelimit-remaining": "4",
    "x-ratelimit-remaining-tokens": "1000",
  });
  await counters.take({ rates: [{ key: "{acct_1}:tokens", perMinute: 1_000_000, cost: 800_000 }], leases: [] });
  expect(await consume(caller)).toMatchObject({
    "x-ratelimit-limit": "1000000",
    "x-ratelimit-remaining": "100000",
    "x-ratelimit-reset": "54",
    "x-ratelimit-limit-requests": "5",
    "x-ratelimit-remaining-tokens": "1000",
  });
});

test("a decision without the shared counters is marked as degraded, also when rejected", async () => {
  const clock = createTestClock();
  const local = createMemoryCounters({ clock });
  const shared = { ...local, take: () => Promise.reject(new Error("away")) };
  const counters = createCountersWithFallback({ shared, local, clock, onTrouble: () => {} });
  const caller = createCaller({ requestsPerMinute: 1 });
  expect(await consumeLimits(counters, caller, { request: "write" })).toMatchObject({ "x-ratelimit-degraded": "1" });
  await expect(consumeLimits(counters, caller, { request: "write" })).rejects.toMatchObject({
    headers: { "x-ratelimit-degraded": "1", "retry-after": "60" },
  });
});

/** The error for a demand, or `null` if it passes. */
async function findRefusal(parts: ReturnType<typeof createParts>, caller: Limited, demand: Demand) {
  return await consumeLimits(parts.counters, caller, demand).then(
    () => null,
    (error: AppError) => error,
  );
}

test("tokens over the limit are rejected with their own code, and nothing else is consumed", async () => {
  const parts = createParts();
  const caller = createCaller({ tokensPerMinute: 6000 });
  expect(await findRefusal(parts, caller, { request: "write", tokens: 5000 })).toBeNull();
  const refusal = await findRefusal(parts, caller, { request: "write", tokens: 2000 });
  expect(refusal).toMatchObject({
    code: "token_limit_exceeded",
    message: "You reached the account's limit of 6000 tokens per minute. Retry in 10s.",
    headers: { "retry-after": "10", "x-ratelimit-remaining-tokens": "1000", "x-ratelimit-remaining-requests": "599" },
  });
  parts.clock.advance(10_000);
  expect(await findRefusal(parts, caller, { request: "write", tokens: 2000 })).toBeNull();
});

test("correctTokens returns unused tokens and takes those beyond the estimate", async () => {
  const parts = createParts();
  const caller = createCaller({ tokensPerMinute: 6000 }, { tokensPerMinute: 3000 });
  const readLeft = async () => (await consumeLimits(parts.counters, caller, {}))["x-ratelimit-remaining-tokens"];
  await consumeLimits(parts.counters, caller, { tokens: 2000 });
  expect(await readLeft()).toBe("1000");
  await correctTokens(parts.counters, caller, -1500);
  expect(await readLeft()).toBe("2500");
  await correctTokens(parts.counters, caller, 2000);
  expect(await readLeft()).toBe("500");
});

test.each([
  ["request", "concurrentRequests", "requests"],
  ["task", "tasksInFlight", "tasks"],
] as const)(
  "a %s beyond the concurrency limit is rejected until a slot is returned or expires",
  async (use, limit, unit) => {
    const parts = createParts();
    const caller = createCaller({ [limit]: 2 });
    const take = (id: string) => findRefusal(parts, caller, { request: "write", slot: { use, id, ttlMs: minute } });
    expect([await take("one"), await take("two")]).toEqual([null, null]);
    const refusal = await take("three");
    expect(refusal).toMatchObject({
      code: "concurrency_limit_exceeded",
      message: `You reached the account's limit of 2 ${unit} at a time. Retry in 1m0s.`,
      headers: { "retry-after": "60", "x-ratelimit-remaining-requests": "598" },
    });
    await returnSlot(parts.counters, caller, { use, id: "one", ttlMs: minute });
    await returnSlot(parts.counters, caller, { use, id: "one", ttlMs: minute });
    expect(await take("three")).toBeNull();
    expect(await take("four")).not.toBeNull();
    parts.clock.advance(minute);
    expect(await take("four")).toBeNull();
  },
);

test("requests and tasks have separate slots, and so do two keys with their own limits", async () => {
  const parts = createParts();
  const one = createCaller({}, { concurrentRequests: 1 }, "key_1");
  const two = createCaller({}, { concurrentRequests: 1 }, "key_2");
  const slot = (id: string, use: "request" | "task" = "request") => ({ slot: { use, id, ttlMs: minute } });
  expect(await findRefusal(parts, one, slot("a"))).toBeNull();
  expect(await findRefusal(parts, one, slot("b", "task"))).toBeNull();
  expect(await findRefusal(parts, two, slot("c"))).toBeNull();
  expect(await findRefusal(parts, one, slot("d"))).toMatchObject({
    message: expect.stringContaining("the API key's limit of 1"),
  });
});

test("a call that exceeds any limit consumes none of the account's or the key's limits", async () => {
  const parts = createParts();
  const caller = createCaller(
    { requestsPerMinute: 5, tokensPerMinute: 100, concurrentRequests: 1 },
    { tokensPerMinute: 50 },
  );
  const demand = (id: string, tokens: number): Demand => ({
    request: "write",
    tokens,
    slot: { use: "request", id, ttlMs: minute },
  });
  expect(await findRefusal(parts, caller, demand("a", 30))).toBeNull();
  // The key's token limit rejects this one, the account's concurrency limit the next.
  expect(await findRefusal(parts, caller, demand("b", 30))).toBeInstanceOf(AppError);
  expect(await findRefusal(parts, caller, demand("c", 10))).toBeInstanceOf(AppError);
  await returnSlot(parts.counters, caller, { use: "request", id: "a", ttlMs: minute });
  const headers = await consumeLimits(parts.counters, caller, demand("d", 20));
  expect(headers).toMatchObject({ "x-ratelimit-remaining-requests": "3", "x-ratelimit-remaining-tokens": "0" });
});

test("the state of limits checked earlier is merged with the new one", async () => {
  const parts = createParts();
  const caller = createCaller({ requestsPerMinute: 10, tokensPerMinute: 6000 });
  const before = await takeLimits(parts.counters, caller, { request: "write" });
  expect(await consumeLimits(parts.counters, caller, { tokens: 500 }, before)).toMatchObject({
    "x-ratelimit-limit": "10",
    "x-ratelimit-remaining": "9",
    "x-ratelimit-remaining-requests": "9",
    "x-ratelimit-remaining-tokens": "5500",
  });
  await expect(consumeLimits(parts.counters, caller, { tokens: 6000 }, before)).rejects.toMatchObject({
    code: "token_limit_exceeded",
    headers: { "x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-tokens": "5500" },
  });
});
