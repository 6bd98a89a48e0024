import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { nameTarget } from "../../providers/upstream-health.ts";
import { readVendorLimits } from "../../providers/vendor-limits.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import type { RouteTarget } from "./route-target.ts";
import { putLimits, type SeenLimit } from "./vendor-limit-store.ts";

const everyMs = 60_000;

/** Writes the rate limits that vendors stated to this process, once a minute and at its end. No call waits for it. */
export function publishVendorLimits(options: {
  database: Database;
  clock: Clock;
  catalog: Pick<LiveCatalog, "current">;
  onTrouble(error: unknown): void;
  onRecovery?(): void;
}): { close(): Promise<void> } {
  const { database, clock, catalog } = options;
  let writing: Promise<void> | null = null;
  const write = async (): Promise<void> => {
    try {
      await writeVendorLimits({ database, clock }, [...catalog.current().targetsByModelId.values()].flat());
      options.onRecovery?.();
    } catch (error) {
      // The next responses state them again.
      options.onTrouble(error);
    }
  };
  const timer = setInterval(() => {
    writing ??= write().finally(() => {
      writing = null;
    });
  }, everyMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}

/** Takes the headers that calls left at their targets, and writes the newest of each route and key. */
export async function writeVendorLimits(
  { database, clock }: { database: Database; clock: Clock },
  targets: readonly RouteTarget[],
): Promise<void> {
  const [now, nowMs] = [clock.now().getTime(), clock.monotonicMs()];
  const newest = new Map<string, { seenMs: number; limits: SeenLimit[] }>();
  for (const { lastHead, providerId, upstreamModel, keyNumber } of targets) {
    if (lastHead?.headers == null) continue;
    const { headers, atMs } = lastHead;
    lastHead.headers = null;
    const place = { providerId, upstreamModel, keyNumber };
    const seenAt = new Date(now - (nowMs - atMs));
    if ((newest.get(nameTarget(place))?.seenMs ?? Number.NEGATIVE_INFINITY) > atMs) continue;
    const limits = readVendorLimits(headers, seenAt).map((limit) => ({ ...place, ...limit, seenAt }));
    if (limits.length > 0) newest.set(nameTarget(place), { seenMs: atMs, limits });
  }
  await putLimits(
    database,
    [...newest.values()].flatMap(({ limits }) => limits),
  );
}
