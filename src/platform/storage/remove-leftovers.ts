import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../lib/clock.ts";

/** No write takes this long, so older files belong to dead processes. */
const abandonedMs = 60 * 60 * 1000;

/**
 * Removes files of crashed processes from a folder of drafts. Compares with the machine's clock, which dates the files.
 */
export async function removeLeftovers(folder: string): Promise<void> {
  const now = systemClock.now();
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const changedMs = await readChangedMs(path);
    if (changedMs !== null && changedMs + abandonedMs <= now.getTime())
      await rm(path, { recursive: true, force: true });
  }
}

/** `null` if its writer has removed it. */
async function readChangedMs(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
