import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { isBackupRunning } from "../../platform/database/backup-lock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { nameThumbnail } from "./create-thumbnails.ts";
import { deleteFiles } from "./file-store.ts";
import { isUnarchived } from "./unarchived-bytes-store.ts";
import { claimDueBytes, deleteUnownedBytes, doomUnownedBytes } from "./unowned-bytes-store.ts";

/** A file goes first and dooms its bytes with it, so that a crash at any moment leaves nothing that no sweep finds. */
export type FileRemoval = {
  /** Whether there was such a file. It is gone when this answers; its bytes go at once or, where that fails, later. */
  deleteFile(which: { fileId: string; accountId?: AccountId }): Promise<boolean>;
  /** Removes files whose time is over, and bytes that belong to none. */
  removeExpired(): Promise<{ files: number; removedBytes: number }>;
  /** Removes bytes that were written for nothing. What became a file after all, as when only its answer was lost, stays. */
  discardBytes(storageKey: string): Promise<void>;
};

type RemovalDependencies = {
  database: Database;
  clock: Clock;
  bytes: ByteStore;
  /** Told of bytes that could not be removed; somebody tries again. */
  onTrouble(error: unknown): void;
};

/** After this, another may try to remove bytes that somebody began to remove. */
const retryMs = 10 * 60 * 1000;
const filesAtOnceMax = 500;
const claimedAtOnceMax = 100;
const removedAtOnceMax = 8;

export function createFileRemoval({ database, clock, bytes, onTrouble }: RemovalDependencies): FileRemoval {
  /** Until when bytes that somebody is about to remove are left to them. */
  const putOff = (now: Date): Date => new Date(now.getTime() + retryMs);

  /** Removes bytes whose file is gone. Failing does no harm: they are doomed, and the sweep finds them. */
  async function removeDoomedBytes(storageKey: string): Promise<boolean> {
    try {
      // A backup that saw the file, or the archive of the log, has yet to copy them. The sweep comes back.
      if ((await isBackupRunning(database)) || (await isUnarchived(database, storageKey))) return false;
      await bytes.delete(nameThumbnail(storageKey));
      await bytes.delete(storageKey);
      await deleteUnownedBytes(database, storageKey);
      return true;
    } catch (error) {
      onTrouble(error);
      return false;
    }
  }

  /** Removes all unowned bytes that are due; answers how many could be. */
  async function removeDueBytes(): Promise<number> {
    let removed = 0;
    for (let claimed = claimedAtOnceMax; claimed === claimedAtOnceMax; ) {
      const now = clock.now();
      const keys = await claimDueBytes(database, { now, nextAt: putOff(now), countMax: claimedAtOnceMax });
      claimed = keys.length;
      while (keys.length > 0) {
        const outcomes = keys.splice(0, removedAtOnceMax).map(removeDoomedBytes);
        removed += (await Promise.all(outcomes)).filter(Boolean).length;
      }
    }
    return removed;
  }

  return {
    async deleteFile(which) {
      const storageKeys = await deleteFiles(database, which, putOff(clock.now()));
      for (const storageKey of storageKeys) await removeDoomedBytes(storageKey);
      return storageKeys.length > 0;
    },
    async removeExpired() {
      let files = 0;
      for (let gone = filesAtOnceMax; gone === filesAtOnceMax; ) {
        const now = clock.now();
        gone = (await deleteFiles(database, { expiredAt: now, countMax: filesAtOnceMax }, now)).length;
        files += gone;
      }
      return { files, removedBytes: await removeDueBytes() };
    },
    async discardBytes(storageKey) {
      try {
        if (await doomUnownedBytes(database, storageKey, putOff(clock.now()))) await removeDoomedBytes(storageKey);
      } catch (error) {
        // They are noted as unowned, so that the sweep finds them.
        onTrouble(error);
      }
    },
  };
}
