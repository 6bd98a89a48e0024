import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { isBackupRunning } from "../../platform/database/backup-lock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { nameThumbnail } from "./file.ts";
import { deleteFiles } from "./file-store.ts";
import { isUnarchived } from "./unarchived-bytes-store.ts";
import { claimDueBytes, deleteUnownedBytes, doomUnownedBytes } from "./unowned-bytes-store.ts";

/**
 * Deletes the row first and marks its bytes for deletion in the same statement, so that a sweep finds them after any
 * crash.
 */
export type FileRemoval = {
  /** Returns whether the file existed. Its bytes are deleted at once or, if that fails, by the sweep. */
  deleteFile(which: { fileId: string; accountId?: AccountId }): Promise<boolean>;
  /** Deletes expired files, and bytes without a file. */
  removeExpired(): Promise<{ files: number; removedBytes: number }>;
  /**
   * Deletes bytes that were written in vain, unless they became a file after all: only the commit's response was lost.
   */
  discardBytes(storageKey: string): Promise<void>;
};

type RemovalDependencies = {
  database: Database;
  clock: Clock;
  bytes: ByteStore;
  /** Called for bytes that could not be deleted; the sweep retries. */
  onTrouble(error: unknown): void;
};

/** After this, another process may retry a deletion. */
const retryMs = 10 * 60 * 1000;
const filesAtOnceMax = 500;
const claimedAtOnceMax = 100;
const removedAtOnceMax = 8;

export function createFileRemoval({ database, clock, bytes, onTrouble }: RemovalDependencies): FileRemoval {
  /** Reserves a deletion for this process until then. */
  const putOff = (now: Date): Date => new Date(now.getTime() + retryMs);

  /** Deletes bytes whose file is gone. A failure does no harm: the bytes stay marked, and the sweep retries. */
  async function removeDoomedBytes(storageKey: string): Promise<boolean> {
    try {
      // A running backup that saw the file, or the WAL archive, still has to copy them; the sweep retries.
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

  /** Deletes all unowned bytes that are due, and returns how many succeeded. */
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
        // They are recorded as unowned, so the sweep finds them.
        onTrouble(error);
      }
    },
  };
}
