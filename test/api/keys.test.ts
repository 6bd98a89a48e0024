// @module-tag slow
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey, revokeApiKey, updateAccount, updateApiKey } from "../../src/features/accounts/index.ts";
import { createKeyText } from "../../src/features/accounts/key-text.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { createTestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function readCode(response: Response): Promise<string> {
  return response.status === 200 ? "ok" : ((await response.json()) as { error: { code: string } }).error.code;
}

/** The error code of a GET /models call, or `ok`. */
async function call(on: TestGateway, key: string, path = "/models"): Promise<string> {
  return await readCode(await on.get(path, key));
}

describe("a malformed key", () => {
  test.each([
    ["no header", {}, "missing_api_key"],
    ["another scheme", { authorization: "Basic dTpw" }, "missing_api_key"],
    ["an empty key", { authorization: "Bearer " }, "missing_api_key"],
    ["a key with a wrong checksum", { authorization: `Bearer sk-slc-${"a".repeat(36)}` }, "invalid_api_key"],
    ["a truncated key", { authorization: `Bearer sk-slc-${"a".repeat(20)}` }, "invalid_api_key"],
    ["a key of another service", { authorization: "Bearer sk-proj-abcdefgh" }, "invalid_api_key"],
  ])("%s is a 401 that describes how to authenticate", async (_name, headers, code) => {
    const response = await fetch(`${gateway.baseUrl}/models`, { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.headers.has("x-ratelimit-limit")).toBe(false);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type: "authentication_error", param: null, code },
      request_id: response.headers.get("x-request-id"),
    });
  });

  test("a well-formed key that was never issued is invalid, and stays so on the next call", async () => {
    await using other = await startGateway();
    const { key } = await other.createCaller();
    expect([await call(gateway, key), await call(gateway, key)]).toEqual(["invalid_api_key", "invalid_api_key"]);
  });
});

test("an expired key gets its own error code", async () => {
  const clock = createTestClock();
  await using own = await startGateway({ clock });
  const { key } = await own.createCaller({ expiresAt: new Date(clock.now().getTime() + 60_000) });
  expect(await call(own, key)).toBe("ok");
  clock.advance(60_000);
  expect(await call(own, key)).toBe("expired_api_key");
});

test("a suspended account cannot call until it is resumed", async () => {
  const caller = await gateway.createCaller();
  expect(await call(gateway, caller.key)).toBe("ok");
  await updateAccount(gateway.parts, caller.accountId, { isSuspended: true });
  await waitUntil("the suspension", async () => (await call(gateway, caller.key)) === "account_suspended");
  expect((await gateway.get("/models", caller.key)).status).toBe(403);
  await updateAccount(gateway.parts, caller.accountId, { isSuspended: false });
  await waitUntil("the resumption", async () => (await call(gateway, caller.key)) === "ok");
});

test("a key limited to endpoints, models or addresses can use nothing else", async () => {
  const endpoint = await gateway.createCaller({ endpoints: ["models"] });
  expect(await call(gateway, endpoint.key)).toBe("ok");
  expect(await call(gateway, endpoint.key, "/pricing/models")).toBe("key_not_permitted");

  const model = await gateway.createCaller({ modelIds: ["sandbox-chat"] });
  const list = (await (await gateway.get("/models", model.key)).json()) as { data: { id: string }[] };
  expect(list.data.map(({ id }) => id)).toEqual(["sandbox-chat"]);
  expect(await call(gateway, model.key, "/models/sandbox-chat")).toBe("ok");
  const refused = await gateway.get("/models/sandbox-image", model.key);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: "key_not_permitted", type: "permission_error" } });

  const here = await gateway.createCaller({ addresses: ["127.0.0.0/8"] });
  const elsewhere = await gateway.createCaller({ addresses: ["10.0.0.0/8", "2001:db8::1"] });
  expect([await call(gateway, here.key), await call(gateway, elsewhere.key)]).toEqual(["ok", "key_not_permitted"]);
});

test("a forwarded address counts only from a trusted proxy", async () => {
  await using behindProxy = await startGateway({ settings: { trusted_proxies: ["127.0.0.1"] } });
  for (const [on, expected] of [
    [gateway, "key_not_permitted"],
    [behindProxy, "ok"],
  ] as const) {
    const { key } = await on.createCaller({ addresses: ["192.0.2.1"] });
    expect(await readCode(await on.get("/models", key, { "x-forwarded-for": "192.0.2.1" }))).toBe(expected);
  }
});

test("an account has several keys, and revoking one leaves the others", async () => {
  const caller = await gateway.createCaller();
  const second = await createApiKey(
    { ...gateway.parts, randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    { accountId: caller.accountId, name: "second" },
  );
  await revokeApiKey(gateway.parts, caller.keyId);
  await waitUntil("the end of the first", async () => (await call(gateway, caller.key)) === "revoked_api_key");
  expect(await call(gateway, second.text)).toBe("ok");
});

test("a change of a key takes effect on every node that cached it", async () => {
  const shared = await createTestDatabase();
  {
    await using one = await startGateway({ sharedDatabase: shared });
    await using two = await startGateway({ sharedDatabase: shared });
    const caller = await one.createCaller();
    expect([await call(one, caller.key), await call(two, caller.key)]).toEqual(["ok", "ok"]);
    await updateApiKey(one.parts, caller.keyId, { endpoints: ["pricing"] });
    for (const node of [one, two]) {
      await waitUntil("the new scope", async () => (await call(node, caller.key)) === "key_not_permitted");
    }
    await revokeApiKey(one.parts, caller.keyId);
    for (const node of [one, two]) {
      await waitUntil("the end", async () => (await call(node, caller.key)) === "revoked_api_key");
    }
  }
  await shared.close();
});

test("a node with a disconnected change feed bypasses its cache and queries the database", async () => {
  await using own = await startGateway();
  const caller = await own.createCaller();
  expect(await call(own, caller.key)).toBe("ok");
  // The change feed's connection ends and cannot reconnect; the query connections stay.
  await sql`update pg_database set datallowconn = false where datname = current_database()`.execute(own.database);
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'sluice-change-feed'`.execute(own.database);
  await waitUntil("the feed's end", () =>
    own.logs.some((line) => line.msg === "change feed disconnected, caches bypassed"),
  );
  await revokeApiKey(own.parts, caller.keyId);
  expect(await call(own, caller.key)).toBe("revoked_api_key");
  await sql`update pg_database set datallowconn = true where datname = current_database()`.execute(own.database);
});

test("a key read before its revocation is not cached after it", async () => {
  await using own = await startGateway();
  const [late, other] = [await own.createCaller(), await own.createCaller()];
  expect(await call(own, other.key)).toBe("ok");
  const countWaiting = async () => {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(own.database);
    return Number(rows[0]?.count);
  };
  let slow: Promise<string> = Promise.resolve("");
  let untilForgotten: Promise<void> = Promise.resolve();
  await own.database.transaction().execute(async (tx) => {
    await sql`lock table accounts in access exclusive mode`.execute(tx);
    // This lookup has read the key and waits for its account.
    slow = call(own, late.key);
    await waitUntil("the slow look-up", async () => (await countWaiting()) === 1);
    await revokeApiKey(own.parts, late.keyId);
    await revokeApiKey(own.parts, other.keyId);
    // Notifications arrive in order: once the other key is read again, the first one's has arrived too.
    untilForgotten = (async () => {
      while ((await call(own, other.key)) === "ok");
    })();
    await waitUntil("both look-ups wait", async () => (await countWaiting()) === 2);
  });
  await Promise.all([slow, untilForgotten]);
  expect(await call(own, late.key)).toBe("revoked_api_key");
});

test("a cached key costs no database query", async () => {
  await using own = await startGateway();
  const { key } = await own.createCaller();
  const headers = { authorization: `Bearer ${key}` };
  /** Database queries wait for this transaction longer than the caller does. */
  const isAnsweredFromMemory = () =>
    own.database.transaction().execute(async (tx) => {
      await sql`lock table api_keys, accounts, plans, prices, catalog_versions in access exclusive mode`.execute(tx);
      const calls = ["/models", "/models/sandbox-chat", "/pricing/models"].map((path) =>
        fetch(`${own.baseUrl}${path}`, { headers, signal: AbortSignal.timeout(1000) }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
      return (await Promise.all(calls)).every(Boolean);
    });
  // The notification of the key's creation may arrive after its first lookup and evict it once.
  await waitUntil("answers from memory", async () => (await call(own, key)) === "ok" && (await isAnsweredFromMemory()));
});

test("lookups of unknown keys are rate-limited by network, and other callers are not delayed", async () => {
  await using own = await startGateway({ clock: createTestClock(), settings: { trusted_proxies: ["127.0.0.1"] } });
  const { key } = await own.createCaller();
  const late = await own.createCaller();
  const from = (address: string, text: string) => own.get("/models", text, { "x-forwarded-for": address });
  // The notification of the key's creation may arrive after its first use and evict it once.
  await waitUntil("the key to be remembered", () =>
    own.database.transaction().execute(async (tx) => {
      await sql`lock table api_keys in access exclusive mode`.execute(tx);
      const signal = AbortSignal.timeout(1000);
      const headers = { authorization: `Bearer ${key}` };
      const isKnown = await fetch(`${own.baseUrl}/models`, { headers, signal }).then(
        ({ status }) => status === 200,
        () => false,
      );
      return isKnown;
    }),
  );
  const mistyped = createKeyText(randomBytes);
  const same = await Promise.all(Array.from({ length: 20 }, () => from("192.0.2.1", mistyped)));
  expect(new Set(same.map(({ status }) => status))).toEqual(new Set([401]));
  const made = await Promise.all(Array.from({ length: 320 }, () => from("192.0.2.1", createKeyText(randomBytes))));
  const refused = made.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(20);
  expect(refused.length).toBeLessThanOrEqual(40);
  expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
  // Cached keys there, and callers from other networks, are not affected.
  expect((await from("192.0.2.1", key)).status).toBe(200);
  expect((await from("192.0.2.2", late.key)).status).toBe(200);
});
