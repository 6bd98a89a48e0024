import type { Clock } from "../lib/clock.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Counters } from "../platform/counters/counters.ts";
import { createCountersWithEstimates } from "../platform/counters/counters-with-estimates.ts";
import { createMemoryCounters } from "../platform/counters/memory-counters.ts";
import type { Logger } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import { createOutageLog } from "../platform/observability/outage-log.ts";
import type { Siblings } from "./processes/siblings.ts";

type CounterOptions = {
  settings: Pick<Settings, "redis_url">;
  clock: Clock;
  logger: Logger;
  metrics: Pick<Metrics, "redisFallback">;
  siblings?: Pick<Siblings, "counters"> | undefined;
};

/** Counters of this process, of this gateway's processes, or of all gateways on one Redis. */
export async function openCounters(options: CounterOptions): Promise<Counters> {
  const { settings, clock, logger } = options;
  const outage = createOutageLog({
    ...{ logger, clock },
    begins: "Redis unavailable, limits counted locally",
    ends: "Redis available again, limits shared",
  });
  options.metrics.redisFallback.observe(() => [[outage.isOngoing() ? 1 : 0]]);
  const local = await openLocalCounters(options);
  if (settings.redis_url === undefined) return createCountersWithEstimates({ counters: local, clock });
  // Loaded on demand, for a fast start.
  const { createRedisCounters } = await import("../platform/counters/redis-counters.ts");
  const { createCountersWithFallback } = await import("../platform/counters/counters-with-fallback.ts");
  const { onTrouble, onRecovery } = outage;
  const shared = createRedisCounters({ url: settings.redis_url, onTrouble });
  return createCountersWithEstimates({
    counters: createCountersWithFallback({ shared, local, clock, onTrouble, onRecovery }),
    clock,
  });
}

/** With several processes, the supervisor counts for all. */
async function openLocalCounters({ clock, logger, siblings }: CounterOptions): Promise<Counters> {
  const local = createMemoryCounters({ clock });
  if (siblings === undefined) return local;
  const { createRemoteCounters } = await import("../platform/counters/remote-counters.ts");
  const { createCountersWithFallback } = await import("../platform/counters/counters-with-fallback.ts");
  return createCountersWithFallback({
    ...{ local, clock, shared: createRemoteCounters({ stream: siblings.counters }) },
    onTrouble: (error) => logger.warn({ error }, "supervisor unavailable, limits counted by this process"),
  });
}
