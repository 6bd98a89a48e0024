import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import { replaceHealth } from "./upstream-health-store.ts";

export type HealthPublisher = { close(): Promise<void> };

const lookMs = 1_000;
/** A node that has something to tell tells it again this often, so that a silent one is known to be gone. */
const repeatMs = 30_000;
export const silentNodeMs = 3 * repeatMs;

/** Tells operators, by way of the database, what this node sees of its upstreams. No call waits for it. */
export function publishHealth(options: {
  database: Database;
  health: UpstreamHealth;
  clock: Clock;
  nodeId: string;
  /** Told of each try that failed, and of each that did not. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
}): HealthPublisher {
  const { clock, database, health, nodeId } = options;
  let toldVersion = 0;
  let toldAtMs = clock.monotonicMs();
  let telling: Promise<void> | null = null;

  async function tell(): Promise<void> {
    const version = health.version();
    const now = clock.now();
    const forgottenBefore = new Date(now.getTime() - silentNodeMs);
    try {
      await database
        .transaction()
        .execute((tx) => replaceHealth(tx, { nodeId, health: health.list(), now, forgottenBefore }));
      toldVersion = version;
      toldAtMs = clock.monotonicMs();
      options.onRecovery?.();
    } catch (error) {
      // The next look tries again; upstreams are used by what this node knows itself.
      options.onTrouble(error);
    }
  }

  function look(): void {
    const isDue = toldVersion !== health.version() || (toldVersion > 0 && clock.monotonicMs() - toldAtMs >= repeatMs);
    if (!isDue || telling !== null) return;
    telling = tell().finally(() => {
      telling = null;
    });
  }

  const timer = setInterval(look, lookMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await telling;
    },
  };
}
