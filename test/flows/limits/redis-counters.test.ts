import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRedisCounters } from "../../../src/platform/counters/redis-counters.ts";
import { hasRedis, type RedisServer, startRedisServer } from "../../harness/servers/redis-server.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const enoughMs = 30_000;

/** Counters that close with the test and record their errors. */
function openCounters(url: string, timeoutMs = enoughMs) {
  const troubles: Error[] = [];
  const counters = createRedisCounters({ url, timeoutMs, onTrouble: (error) => troubles.push(error) });
  return { counters, troubles, [Symbol.asyncDispose]: () => counters.close() };
}

function unit(key: string, perMinute = 1) {
  return { rates: [{ key, perMinute, cost: 1 }], leases: [] };
}

describe.skipIf(!hasRedis)("counters in Redis", () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedisServer();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server[Symbol.asyncDispose]();
  });

  test("use the clock of Redis and expire when they hold no information", async () => {
    await using opened = openCounters(server.url);
    const lease = { key: "{acct_1}:chats", leaseId: "one", max: 5 };
    const taken = await opened.counters.take({ ...unit("{acct_1}:requests"), leases: [{ ...lease, ttlMs: 40_000 }] });
    expect(taken).toMatchObject({ isAllowed: true, rates: [{ remaining: 0, resetMs: 60_000 }] });
    const refused = await opened.counters.take(unit("{acct_1}:requests"));
    expect(refused.isAllowed).toBe(false);
    const redisNowMs = async (): Promise<number> => Number((await client.time())[0]) * 1000;
    const endsAtMs = Number(await client.zscore("sluice:{acct_1}:chats", "one")) / 1000;
    expect(Math.abs(endsAtMs - 40_000 - (await redisNowMs()))).toBeLessThan(enoughMs);
    for (const [key, ttlMs] of [
      ["sluice:{acct_1}:requests", 60_000],
      ["sluice:{acct_1}:chats", 40_000],
    ] as const) {
      const leftMs = await client.pttl(key);
      expect(leftMs).toBeGreaterThan(0);
      expect(leftMs).toBeLessThanOrEqual(ttlMs);
    }
    expect((await client.keys("*")).toSorted()).toEqual(["sluice:{acct_1}:chats", "sluice:{acct_1}:requests"]);
  });

  test("a short lease does not end longer ones", async () => {
    await using opened = openCounters(server.url);
    const lease = { key: "{acct_2}:chats", leaseId: "long", max: 5 };
    await opened.counters.take({ rates: [], leases: [{ ...lease, ttlMs: 500_000 }] });
    await opened.counters.take({ rates: [], leases: [{ ...lease, leaseId: "short", ttlMs: 1000 }] });
    expect(await client.pttl("sluice:{acct_2}:chats")).toBeGreaterThan(400_000);
    await opened.counters.renew({ ...lease, ttlMs: 900_000 });
    expect(await client.pttl("sluice:{acct_2}:chats")).toBeGreaterThan(800_000);
  });

  test("a counter that a correction empties is deleted", async () => {
    await using opened = openCounters(server.url);
    await opened.counters.take(unit("{acct_3}:requests"));
    await opened.counters.correct({ key: "{acct_3}:requests", perMinute: 1, delta: -1 });
    expect(await client.exists("sluice:{acct_3}:requests")).toBe(0);
    await opened.counters.correct({ key: "{acct_3}:requests", perMinute: 1, delta: 2 });
    expect(await client.pttl("sluice:{acct_3}:requests")).toBeGreaterThan(60_000);
  });

  test("survive a Redis that lost its scripts", async () => {
    await using opened = openCounters(server.url);
    for (const expected of [true, false]) {
      await client.script("FLUSH");
      expect(await opened.counters.take(unit("{acct_4}:requests"))).toMatchObject({ isAllowed: expected });
    }
  });

  test("a stall of this process is not taken for one of Redis", async () => {
    await using opened = openCounters(server.url, 50);
    await waitUntil("the connection", () => opened.counters.take(unit("{acct_5}:requests", 1000)).catch(() => null));
    const taken = opened.counters.take(unit("{acct_5}:requests", 1000));
    // Let it be sent, but read nothing until Redis has answered and the time-out has passed.
    await new Promise<void>((sent) => process.nextTick(sent));
    server.waitStandingStill();
    const stalledUntilMs = performance.now() + 100;
    while (performance.now() < stalledUntilMs);
    expect(await taken).toMatchObject({ isAllowed: true });
  });

  test("an operation on a silent peer times out, and the client reconnects", async () => {
    await using proxy = await startProxy(new URL(server.url).port);
    await using opened = openCounters(proxy.url, 50);
    await expect(opened.counters.take(unit("{acct_6}:requests"))).rejects.toThrow("Redis: ");
    await waitUntil("an answer", () => opened.counters.take(unit("{acct_6}:requests")).catch(() => null));
    expect(proxy.connectionCount()).toBeGreaterThan(1);
    expect(opened.troubles.length).toBe(1);
  });
});

describe.skipIf(!hasRedis)("while Redis is away", () => {
  test("an operation fails, and unanswered operations are not counted when Redis is back", async () => {
    await using server = await startRedisServer();
    await using opened = openCounters(server.url, 50);
    const { counters, troubles } = opened;
    const reading = { rates: [{ key: "a", perMinute: 10, cost: 0 }], leases: [] };
    await waitUntil("the connection", () => counters.take(reading).catch(() => null));
    server.pause();
    await waitUntil("a failure", () =>
      counters.take(unit("a", 10)).then(
        () => false,
        () => true,
      ),
    );
    await expect(counters.correct({ key: "a", perMinute: 10, delta: 1 })).rejects.toThrow("Redis: ");
    await expect(counters.renew({ key: "b", leaseId: "one", ttlMs: 1000 })).rejects.toThrow("Redis: ");
    await expect(counters.release([{ key: "b", leaseId: "one" }])).rejects.toThrow("Redis: ");
    await server.stop();
    await waitUntil("the trouble", () => troubles.length > 0);
    await server.start();
    const decision = await waitUntil("an answer", () => counters.take(reading).catch(() => null));
    expect(decision.rates[0]?.remaining).toBe(10);
  });

  test("an error is reported once per outage", async () => {
    await using server = await startRedisServer();
    await using opened = openCounters(server.url, 50);
    const { counters, troubles } = opened;
    const reading = { rates: [{ key: "a", perMinute: 10, cost: 0 }], leases: [] };
    for (const expected of [1, 2]) {
      await waitUntil("the connection", () => counters.take(reading).catch(() => null));
      await server.stop();
      await waitUntil("the trouble", () => troubles.length === expected);
      await expect(counters.take(reading)).rejects.toThrow("not connected");
      await server.start();
    }
  });

  test("closing ends at once if Redis was never there, and if it does not answer", async () => {
    await using server = await startRedisServer();
    const connected = openCounters(server.url, 50);
    await waitUntil("the connection", () => connected.counters.take(unit("a")).catch(() => null));
    server.pause();
    const waiting = openCounters(server.url, 50);
    const unanswered = waiting.counters.take(unit("a")).catch((error: Error) => error.message);
    await Promise.all([connected.counters.close(), waiting.counters.close()]);
    expect(await unanswered).toContain("Redis: ");
    await server.stop();
    const refused = openCounters(server.url, 50);
    await refused.counters.close();
    const reconnecting = openCounters(server.url, 50);
    await waitUntil("the trouble", () => reconnecting.troubles.length > 0);
    await reconnecting.counters.close();
    await expect(reconnecting.counters.take(unit("a"))).rejects.toThrow("not connected");
  });

  test("a wrong password is reported without the password", async () => {
    await using server = await startRedisServer();
    const client = new Redis(server.url);
    await client.config("SET", "requirepass", "right");
    client.disconnect();
    await using opened = openCounters(server.url.replace("//", "//:wrong-secret@"));
    const failure = await opened.counters.take(unit("a")).catch((error: unknown) => error);
    const [trouble] = await waitUntil("the trouble", () => (opened.troubles.length > 0 ? opened.troubles : null));
    expect(trouble?.message).toContain("WRONGPASS");
    for (const error of [failure, trouble]) {
      expect(inspect(error, { depth: null, showHidden: true })).not.toContain("wrong-secret");
    }
  });
});

/** Stays silent on its first connection and forwards the others. */
async function startProxy(port: string) {
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  const server = createServer((socket) => {
    connectionCount += 1;
    const ends = connectionCount === 1 ? [socket] : [socket, connect(Number(port), "127.0.0.1")];
    for (const end of ends) sockets.add(end.on("error", () => {}));
    const [from = socket, to = null] = ends;
    if (to !== null) from.pipe(to).pipe(from);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connectionCount: () => connectionCount,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
