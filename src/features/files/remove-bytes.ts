import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { claimDueBytes, deleteUnownedBytes, doomUnownedBytes } from "./unowned-bytes-store.ts";

export type RemovalParts = {
  database: Database;
  clock: Clock;
  bytes: ByteStore;
  /** Told of bytes that could not be removed; somebody tries again. */
  onTrouble(error: unknown): void;
};

/** After this, another may try to remove bytes that somebody began to remove. */
const retryMs = 10 * 60 * 1000;
const claimedAtOnceMax = 100;
const removedAtOnceMax = 8;

/** Until when bytes that somebody is about to remove are left to them. */
export function putOff(now: Date): Date {
  return new Date(now.getTime() + retryMs);
}

/** Removes bytes that were written for nothing. What became a file after all, as when only its answer was lost, stays. */
export async function discardBytes(parts: RemovalParts, storageKey: string): Promise<void> {
  try {
    if (!(await doomUnownedBytes(parts.database, storageKey, putOff(parts.clock.now())))) return;
    await removeDoomedBytes(parts, storageKey);
  } catch (error) {
    // They are noted as unowned, so that the sweep finds them.
    parts.onTrouble(error);
  }
}

/** Removes bytes whose file is gone. Failing does no harm: they are doomed, and the sweep finds them. */
export async function removeDoomedBytes(
  { bytes, database, onTrouble }: RemovalParts,
  storageKey: string,
): Promise<boolean> {
  try {
    await bytes.delete(storageKey);
    await deleteUnownedBytes(database, storageKey);
    return true;
  } catch (error) {
    onTrouble(error);
    return false;
  }
}

/** Removes all unowned bytes that are due; answers how many could be. */
export async function removeDueBytes(parts: RemovalParts): Promise<number> {
  let removed = 0;
  for (let claimed = claimedAtOnceMax; claimed === claimedAtOnceMax; ) {
    const now = parts.clock.now();
    const keys = await claimDueBytes(parts.database, { now, nextAt: putOff(now), countMax: claimedAtOnceMax });
    claimed = keys.length;
    while (keys.length > 0) {
      const outcomes = keys.splice(0, removedAtOnceMax).map((key) => removeDoomedBytes(parts, key));
      removed += (await Promise.all(outcomes)).filter(Boolean).length;
    }
  }
  return removed;
}
