import type { AccountId } from "../../lib/ids.ts";
import { deleteFiles } from "./file-store.ts";
import { putOff, type RemovalParts, removeDoomedBytes } from "./remove-bytes.ts";

/** Whether there was such a file. It is gone when this answers; its bytes go at once or, where that fails, later. */
export async function deleteFile(
  parts: RemovalParts,
  which: { fileId: string; accountId?: AccountId },
): Promise<boolean> {
  const storageKeys = await deleteFiles(parts.database, which, putOff(parts.clock.now()));
  for (const storageKey of storageKeys) await removeDoomedBytes(parts, storageKey);
  return storageKeys.length > 0;
}
