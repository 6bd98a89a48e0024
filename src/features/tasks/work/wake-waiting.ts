import { createSingleFlight } from "../../../lib/coalescer.ts";
import { repeat } from "../../../lib/repeat.ts";
import type { ProviderDefinition } from "../../../providers/provider-definition.ts";
import { wakeWaitingTasks } from "../lease-store.ts";
import { listAwaitedProviders, readPlaceUse } from "../task-limit-store.ts";
import { countRoom, listTaskLimits } from "../task-limits.ts";
import type { WorkerDependencies } from "./worker-dependencies.ts";

type WakeDependencies = Pick<WorkerDependencies, "database" | "clock" | "catalog" | "wakeWorkers">;

/** How many tasks are woken of a provider that has no limits any more. */
const wokenMax = 200;

/** Rate limits allow bursts of this long. */
const everyMs = 1_000;

type WakingOptions = { isNeeded(): boolean; onTrouble(error: unknown): void };

/** Wakes waiting tasks while this process works: nothing else notices that a rate allows the next one. */
export function keepWaking(dependencies: WakeDependencies, { isNeeded, onTrouble }: WakingOptions) {
  const wakings = createSingleFlight(() => wakeWaiting(dependencies), onTrouble);
  const stop = repeat(everyMs, () => {
    if (isNeeded()) wakings.tell();
  });
  return {
    async close(): Promise<void> {
      stop();
      await wakings.drain();
    },
  };
}

/** Wakes as many waiting tasks as their providers have room for. */
export async function wakeWaiting({ database, clock, catalog, wakeWorkers }: WakeDependencies): Promise<void> {
  const awaited = await listAwaitedProviders(database);
  let hasWoken = false;
  for (const providerId of awaited) {
    const provider = catalog.current().catalog?.providers.find(({ id }) => id === providerId);
    const now = clock.now();
    const count = provider === undefined ? wokenMax : await countRoomOf(provider, { database, now });
    if (count > 0) hasWoken = (await wakeWaitingTasks(database, providerId, { count, now })) || hasWoken;
  }
  if (hasWoken) wakeWorkers();
}

async function countRoomOf(
  provider: ProviderDefinition,
  { database, now }: Pick<WakeDependencies, "database"> & { now: Date },
): Promise<number> {
  const places = listTaskLimits(provider);
  if (places.length === 0) return wokenMax;
  let room = 0;
  for (const limits of places) room += countRoom(limits, await readPlaceUse(database, provider.id, limits), now);
  return Math.min(room, wokenMax);
}
