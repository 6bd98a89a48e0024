import type { Database } from "../../platform/database/database.ts";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";
import { deleteUnarchivedBytes, listUnarchivedBytes } from "./unarchived-bytes-store.ts";

type ArchiveDependencies = {
  database: Database;
  bytes: ByteStore;
  /** The destination; each object is stored under its key in `files`. */
  archive: ByteStore;
  signal: AbortSignal;
  /** Called for bytes that were lost before they could be copied. */
  onTrouble(error: unknown): void;
};

const keysAtOnceMax = 100;

/** Copies the bytes of every file that is not in the archive yet. */
export async function archiveBytes({
  database,
  bytes,
  archive,
  signal,
  onTrouble,
}: ArchiveDependencies): Promise<void> {
  for (let found = keysAtOnceMax; found === keysAtOnceMax; ) {
    const keys = await listUnarchivedBytes(database, keysAtOnceMax);
    found = keys.length;
    for (const key of keys) {
      signal.throwIfAborted();
      try {
        await archive.put(`files/${key}`, await bytes.open(key), { signal });
      } catch (error) {
        if (!(error instanceof MissingBytesError)) throw error;
        onTrouble(error);
      }
      await deleteUnarchivedBytes(database, key);
    }
  }
}
