import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../../src/providers/adapter.ts";

export type StudioFolder = { jobsDir: string; cacheDir: string };

const foreignMsMax = 24 * 60 * 60 * 1000;

/**
 * Creates this process's own folder inside a shared one. Deletes folders of dead processes on this machine, and others'
 * after a day without changes.
 */
export async function openStudioFolder(folder: string, clock: Clock): Promise<StudioFolder> {
  const host = hostname().replace(/[^\w.-]/g, "_");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (name !== "cache" && (await isLeftover(join(folder, name), name, { host, clock }))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
  const jobsDir = join(folder, `${host}-${process.pid}-${randomBytes(4).toString("hex")}`);
  const cacheDir = join(folder, "cache");
  await mkdir(jobsDir, { mode: 0o700 });
  // A confined fontconfig cannot create its cache folder, because it would change the folder's mode.
  await mkdir(join(cacheDir, "fontconfig"), { recursive: true, mode: 0o700 });
  return { jobsDir, cacheDir };
}

async function isLeftover(
  path: string,
  name: string,
  { host, clock }: { host: string; clock: Clock },
): Promise<boolean> {
  const pid = name.startsWith(`${host}-`) ? Number(/-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1] ?? 0) : 0;
  if (pid > 0) return !isAlive(pid);
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
  return clock.now().getTime() - mtimeMs > foreignMsMax;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // `EPERM`: the process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
