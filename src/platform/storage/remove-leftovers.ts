import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../lib/clock.ts";

/** Nothing is written for as long as this, so that what is older belongs to a process that died. */
const abandonedMs = 60 * 60 * 1000;

/**
 * Removes what crashed processes left in a folder of drafts; what others write at the moment stays. Files are dated by the
 * machine's own clock, whatever the time is elsewhere.
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

/** `null` where its writer was done with it first. */
async function readChangedMs(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
