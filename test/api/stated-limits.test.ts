import { afterAll, beforeAll, expect, test } from "vitest";
import { writeVendorLimits } from "../../src/features/catalog/publish-vendor-limits.ts";
import type { RouteTarget } from "../../src/features/catalog/route-target.ts";
import { putVendorBalance } from "../../src/features/catalog/vendor-balance-store.ts";
import { listVendorLimits, putLimits } from "../../src/features/catalog/vendor-limit-store.ts";
import { type Operator, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";

let stage: ChatGateway;
let operator: Operator;
beforeAll(async () => {
  stage = await openChatGateway({ settings: visitorSettings });
  operator = await signUpOperator(stage.gateway);
});
afterAll(() => stage[Symbol.asyncDispose]());

test("the limits that vendors stated last are written by route and key, not with the call", async () => {
  await using own = await openChatGateway();
  const { database } = own.gateway;
  const customer = await own.createCaller();
  for (const model of ["open", "anthropic"]) {
    const response = await customer.post({ model, messages: [{ role: "user", content: "Hi" }] });
    expect(response.status).toBe(200);
    await response.text();
  }
  await customer.settled();
  expect(await listVendorLimits(database, new Date(0))).toEqual([]);
  await own.gateway.close();
  const limits = (await listVendorLimits(database, new Date(0))).map(
    ({ providerId, keyNumber, name, most, remaining }) => [providerId, keyNumber, name, most, remaining],
  );
  expect(limits.toSorted()).toEqual([
    ["anthropic", 0, "input-tokens", 400_000, 399_000],
    ["anthropic", 0, "output-tokens", 80_000, 79_000],
    ["anthropic", 0, "requests", 4000, 3999],
    ["open", 0, "requests", 10_000, 9999],
    ["open", 0, "tokens", 30_000_000, 29_999_977],
  ]);
});

test("operators see the limits and balances of the last day", async () => {
  const { database } = stage.gateway;
  const place = { providerId: "open", upstreamModel: `${canary}-open`, keyNumber: 0, resetsAt: null };
  const limit = { ...place, most: 60, remaining: 7 };
  const now = new Date();
  await putLimits(database, [
    { ...limit, name: "requests", seenAt: now },
    { ...limit, name: "tokens", seenAt: new Date(now.getTime() - 25 * 3_600_000) },
  ]);
  const key = { providerId: "open", keyNumber: 0, askedAt: now };
  await putVendorBalance(database, key, { amountNano: 12_500_000_000n, currency: "USD" });
  await putVendorBalance(database, key, { failure: "overloaded (503)" });
  const { body } = await operator.admin.get("/upstreams");
  const found = body.data.find(({ provider }: { provider: string }) => provider === "open");
  expect(found.limits).toEqual([
    { name: "requests", limit: 60, remaining: 7, resets_at: null, seen_at: now.toISOString() },
  ]);
  expect(body.balances).toEqual([
    {
      ...{ provider: "open", key_number: 0, balance: "12.50", currency: "USD", low: null },
      ...{ read_at: now.toISOString(), asked_at: now.toISOString(), failure: "overloaded (503)" },
    },
  ]);
});

test("a row is written once a minute at most, whichever process saw it, and the newest wins", async () => {
  const clock = createTestClock(new Date());
  const { database } = stage.gateway;
  const see = async (remaining: number, atMs = clock.monotonicMs()) => {
    const headers = { "x-ratelimit-limit": "100", "x-ratelimit-remaining": String(remaining) };
    const target = { providerId: "acme", upstreamModel: "large", keyNumber: 0, lastHead: { headers, atMs } };
    const older = { ...target, lastHead: { headers: { ...headers, "x-ratelimit-remaining": "1" }, atMs: atMs - 10 } };
    await writeVendorLimits({ database, clock }, [older, target, older] as unknown as RouteTarget[]);
    return (await listVendorLimits(database, new Date(0))).find(({ providerId }) => providerId === "acme")?.remaining;
  };
  expect(await see(90)).toBe(90);
  clock.advance(1000);
  expect(await see(80)).toBe(90);
  clock.advance(60_000);
  expect(await see(70)).toBe(70);
});
