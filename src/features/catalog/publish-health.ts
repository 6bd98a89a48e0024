import type { Clock } from "../../lib/clock.ts";
import { repeat } from "../../lib/repeat.ts";
import type { Database } from "../../platform/database/database.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import { replaceHealth } from "./upstream-health-store.ts";

export type HealthPublisher = { close(): Promise<void> };

const checkMs = 1_000;
/** A node with a non-empty report repeats it this often, so that a silent node is known to be gone. */
const repeatMs = 30_000;
export const silentNodeMs = 3 * repeatMs;

/** Writes this node's view of upstream health to the database, for operators. No call waits for it. */
export function publishHealth(options: {
  database: Database;
  health: UpstreamHealth;
  clock: Clock;
  nodeId: string;
  /** Called on each failed write; `onRecovery` on each successful one. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
}): HealthPublisher {
  const { clock, database, health, nodeId } = options;
  let publishedVersion = 0;
  let publishedAtMs = clock.monotonicMs();
  let publishing: Promise<void> | null = null;

  async function publish(): Promise<void> {
    const version = health.version();
    const now = clock.now();
    const forgottenBefore = new Date(now.getTime() - silentNodeMs);
    try {
      await database
        .transaction()
        .execute((tx) => replaceHealth(tx, { nodeId, health: health.list(), now, forgottenBefore }));
      publishedVersion = version;
      publishedAtMs = clock.monotonicMs();
      options.onRecovery?.();
    } catch (error) {
      // The next check retries. Routing uses this node's own health, not the table.
      options.onTrouble(error);
    }
  }

  function publishIfDue(): void {
    const hasChanged = publishedVersion !== health.version();
    const isDue = hasChanged || (publishedVersion > 0 && clock.monotonicMs() - publishedAtMs >= repeatMs);
    if (!isDue || publishing !== null) return;
    publishing = publish().finally(() => {
      publishing = null;
    });
  }

  const stop = repeat(checkMs, publishIfDue);
  return {
    async close() {
      stop();
      await publishing;
    },
  };
}
