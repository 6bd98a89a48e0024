import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { pollVendorBalances } from "../../src/features/catalog/index.ts";
import { listVendorBalances } from "../../src/features/catalog/vendor-balance-store.ts";
import { environmentSecrets } from "../../src/platform/config/secrets.ts";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import type { ProviderDefinition } from "../../src/providers/provider-definition.ts";
import { findBalanceSource } from "../../src/providers/vendor-balance.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { balanceKey, startBalanceFake } from "../harness/upstreams/balance-fake.ts";

const clock = createTestClock(new Date("2026-05-01T10:00:00Z"));
const signal = new AbortController().signal;
const minuteMs = 60_000;

let testDatabase: TestDatabase;
let database: Database;
let fake: Awaited<ReturnType<typeof startBalanceFake>>;
beforeAll(async () => {
  fake = await startBalanceFake();
  testDatabase = await createTestDatabase();
  database = createDatabase({
    address: { connectionString: testDatabase.url },
    connectionsMax: 4,
    onConnectionError: () => {},
  });
});
beforeEach(async () => {
  fake.requests.length = 0;
  fake.replies.clear();
  await database.deleteFrom("vendor_balances").execute();
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
  await fake[Symbol.asyncDispose]();
});

function describeProvider(id: string, path: string, more: Partial<ProviderDefinition> = {}): ProviderDefinition {
  return { id, kind: "openai-compatible", base_url: `${fake.url}${path}`, api_keys: [balanceKey], ...more };
}

async function poll(...providers: ProviderDefinition[]) {
  await pollVendorBalances({ database, clock, secrets: environmentSecrets, providers, signal });
  return (await listVendorBalances(database)).map(({ balance, failure }) => [
    balance === null ? null : `${Number(balance.amountNano) / 1e9} ${balance.currency}`,
    failure,
  ]);
}

test.each([
  ["openrouter", "/api/v1", { dialect: "openrouter" }, "74.75 USD"],
  ["deepseek", "/v1", { dialect: "deepseek" }, "110 CNY"],
  ["moonshot", "/v1", { balance: "moonshot" }, "49.58894 USD"],
  ["siliconflow", "/v1", { balance: "siliconflow" }, "88.88 USD"],
  ["luma", "/dream-machine/v1", { kind: "luma" }, "12.5 USD"],
  ["runway", "/v1", { kind: "runway" }, "4200 credits"],
  ["black-forest-labs", "/v1", { kind: "black-forest-labs" }, "731.5 credits"],
] as const)("the documented answer of %s is a balance", async (id, path, more, expected) => {
  expect(await poll(describeProvider(id, path, more))).toEqual([[expected, null]]);
  expect(fake.requests).toHaveLength(1);
});

test("a vendor is found by its host, kind or dialect, or as the catalog says", () => {
  const find = (base_url: string, more: Partial<ProviderDefinition> = {}) =>
    findBalanceSource({ id: "a", kind: "openai-compatible", base_url, ...more });
  expect(find("https://openrouter.ai/api/v1")).toBe("openrouter");
  expect(find("https://api.moonshot.cn/v1")).toBe("moonshot");
  expect(find("https://api.siliconflow.com/v1", { balance: "none" })).toBeNull();
  expect(find("https://proxy.example.com/v1")).toBeNull();
  expect(find("https://proxy.example.com/v1", { balance: "deepseek" })).toBe("deepseek");
  expect(findBalanceSource({ id: "a", kind: "runway" })).toBe("runway");
});

test("a key of OpenRouter that may not read the account states its own limit", async () => {
  const openRouter = describeProvider("openrouter", "/api/v1", { dialect: "openrouter" });
  const refused = { error: { message: "Only management keys can fetch credits", code: 403 } };
  fake.replies.set("/api/v1/credits", { status: 403, body: JSON.stringify(refused) });
  const key = { label: "sk-or-v1-…", limit: 100, usage: 25.5, limit_remaining: 74.5, is_free_tier: false };
  fake.replies.set("/api/v1/key", { status: 200, body: JSON.stringify({ data: key }) });
  expect(await poll(openRouter)).toEqual([["74.5 USD", null]]);
  clock.advance(10 * minuteMs);
  const unlimited = { data: { ...key, limit: null, limit_remaining: null } };
  fake.replies.set("/api/v1/key", { status: 200, body: JSON.stringify(unlimited) });
  expect(await poll(openRouter)).toEqual([["74.5 USD", expect.stringContaining("states no balance")]]);
});

test("an error keeps the last balance and says why, without the key", async () => {
  const siliconFlow = describeProvider("siliconflow", "/v1", { balance: "siliconflow" });
  const fail = async (status: number, body: string) => {
    clock.advance(10 * minuteMs);
    fake.replies.set("/v1/user/info", { status, body });
    const [[balance, failure] = []] = await poll(siliconFlow);
    return [balance, failure];
  };
  await poll(siliconFlow);
  const kept = "88.88 USD";
  expect(await fail(401, `"Api key ${balanceKey} is invalid"`)).toEqual([kept, expect.stringContaining("401")]);
  const [{ failure } = { failure: "" }] = await listVendorBalances(database);
  expect(failure).not.toContain(balanceKey);
  const invalid = JSON.stringify({ code: 20012, message: "account is frozen", data: null });
  expect(await fail(200, invalid)).toEqual([kept, expect.stringContaining("account is frozen")]);
  expect(await fail(200, "<html>")).toEqual([kept, expect.stringMatching(/./)]);
  expect(await fail(503, "")).toEqual([kept, expect.stringContaining("503")]);
  expect(await fail(200, JSON.stringify({ code: 20000, data: { totalBalance: "lots" } }))).toEqual([
    kept,
    expect.stringContaining("states no balance"),
  ]);
  fake.replies.clear();
  clock.advance(10 * minuteMs);
  expect(await poll(siliconFlow)).toEqual([[kept, null]]);
});

test("each key is asked every ten minutes, and forgotten with its provider", async () => {
  const two = describeProvider("luma", "/dream-machine/v1", { kind: "luma", api_keys: [balanceKey, "another-word"] });
  expect(await poll(two)).toEqual([
    ["12.5 USD", null],
    [null, expect.stringContaining("key-refused (401)")],
  ]);
  for (let minute = 1; minute < 10; minute += 1) {
    clock.advance(minuteMs);
    await poll(two);
  }
  expect(fake.requests).toHaveLength(2);
  clock.advance(minuteMs);
  await poll(two);
  expect(fake.requests).toHaveLength(4);
  expect(await poll()).toEqual([]);
});
