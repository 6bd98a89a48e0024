import { deleteFiles } from "./file-store.ts";
import { type RemovalParts, removeDueBytes } from "./remove-bytes.ts";

const filesAtOnceMax = 500;

/**
 * Removes files whose time is over, and bytes that belong to none. A file goes first and dooms its bytes with it, so
 * that a crash at any moment leaves nothing that the next run does not find.
 */
export async function removeExpiredFiles(parts: RemovalParts): Promise<{ files: number; removedBytes: number }> {
  let files = 0;
  for (let gone = filesAtOnceMax; gone === filesAtOnceMax; ) {
    const now = parts.clock.now();
    gone = (await deleteFiles(parts.database, { expiredAt: now, countMax: filesAtOnceMax }, now)).length;
    files += gone;
  }
  return { files, removedBytes: await removeDueBytes(parts) };
}
