import type { Clock } from "../lib/clock.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Counters } from "../platform/counters/counters.ts";
import { createCountersWithEstimates } from "../platform/counters/counters-with-estimates.ts";
import { createMemoryCounters } from "../platform/counters/memory-counters.ts";
import type { Logger } from "../platform/observability/logger.ts";

/** Counters of this process alone, or shared by all that have the same Redis. */
export async function openCounters(options: { settings: Settings; clock: Clock; logger: Logger }): Promise<Counters> {
  const { settings, clock, logger } = options;
  const local = createMemoryCounters({ clock });
  if (settings.redis_url === undefined) return createCountersWithEstimates({ counters: local, clock });
  // Loaded only where it is used: it would slow every start down.
  const { createRedisCounters } = await import("../platform/counters/redis-counters.ts");
  const { createCountersWithFallback } = await import("../platform/counters/counters-with-fallback.ts");
  const onTrouble = (error: Error): void => logger.warn({ error }, "Redis does not answer; limits are local for now");
  const shared = createRedisCounters({ url: settings.redis_url, onTrouble });
  return createCountersWithEstimates({
    counters: createCountersWithFallback({ shared, local, clock, onTrouble }),
    clock,
  });
}
