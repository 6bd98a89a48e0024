// @module-tag extended
import { expect, test } from "vitest";
import { rollGateways } from "../../harness/rollout/roll-gateways.ts";
import { hasProxy } from "../../harness/servers/pooling-proxy.ts";
import { hasRedis, startRedisServer } from "../../harness/servers/redis-server.ts";
import { createTestDatabase } from "../../harness/test-database.ts";

test.skipIf(!hasProxy || !hasRedis)(
  "a rolling restart of three gateways behind a load balancer is invisible to callers",
  async () => {
    const database = await createTestDatabase();
    await using redis = await startRedisServer();
    const outcome = await rollGateways({
      databaseUrl: database.url,
      redisUrl: redis.url,
      callsMin: 100,
      callers: 4,
      pauseMs: 60,
      delayMs: 1000,
    });
    expect(outcome.errors).toEqual([]);
    // All three, and once more if a slow machine had made fewer calls by then.
    expect(outcome.exitCodes.length).toBeGreaterThanOrEqual(3);
    expect(new Set(outcome.exitCodes)).toEqual(new Set([0]));
    expect(outcome.calls).toBeGreaterThanOrEqual(100);
    await database.close();
  },
);
