import { describe, expect, test } from "vitest";
import { hasRedis, startRedisServer } from "../../harness/servers/redis-server.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { startGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

describe.skipIf(!hasRedis)("gateways that share a Redis", () => {
  test("share one limit, count alone during a Redis outage without refusing callers, and recover", async () => {
    const database = await createTestDatabase();
    await using redis = await startRedisServer();
    {
      const options = { sharedDatabase: database, settings: { redis_url: redis.url } };
      await using one = await startGateway(options);
      await using two = await startGateway(options);
      const read = async (gateway: typeof one, key: string) => {
        const { status, headers } = await gateway.get("/models", key);
        return { status, isDegraded: headers.has("x-ratelimit-degraded"), left: headers.get("x-ratelimit-remaining") };
      };
      const { key } = await one.createCaller({ limits: { requestsPerMinute: 1 } });
      const seen = [];
      for (let number = 0; number < 5; number += 1) seen.push(await read(number % 2 === 0 ? one : two, key));
      expect(seen.map(({ status }) => status)).toEqual(Array(5).fill(200));
      expect([(await read(one, key)).status, (await read(two, key)).status]).toEqual([429, 429]);

      redis.pause();
      expect(await read(one, key)).toMatchObject({ status: 200, isDegraded: true });
      expect(await read(two, key)).toMatchObject({ status: 200, isDegraded: true });
      redis.resume();
      for (const gateway of [one, two]) {
        await waitUntil("Redis counts again", async () => !(await read(gateway, key)).isDegraded);
        expect(await read(gateway, key)).toMatchObject({ status: 429, isDegraded: false });
      }
    }
    await database.close();
  });

  test("a gateway starts and serves without its Redis", async () => {
    await using gateway = await startGateway({ settings: { redis_url: "redis://127.0.0.1:1" } });
    const { key } = await gateway.createCaller();
    const response = await gateway.get("/models", key);
    expect([response.status, response.headers.get("x-ratelimit-degraded")]).toEqual([200, "1"]);
  });
});
