import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Programs that start another one under limits; `null` if not installed. */
export type Launchers = { prlimit: string | null; nice: string | null; setpriv: string | null };

const run = promisify(execFile);
const searchMsMax = 20_000;

let launchers: Promise<Launchers> | null = null;

/** Cached. */
export function findLaunchers(): Promise<Launchers> {
  launchers ??= searchLaunchers();
  return launchers;
}

/** For a child without PATH: its parent passes the result. */
export function rememberLaunchers(known: Launchers): void {
  launchers = Promise.resolve(known);
}

async function searchLaunchers(): Promise<Launchers> {
  const [prlimit, nice, setpriv] = await Promise.all(["prlimit", "nice", "setpriv"].map(findOnPath));
  return { prlimit: prlimit ?? null, nice: nice ?? null, setpriv: setpriv ?? null };
}

export async function findOnPath(program: string): Promise<string | null> {
  try {
    const { stdout } = await run("sh", ["-c", `command -v ${program}`], { timeout: searchMsMax });
    const path = stdout.trim();
    return path.startsWith("/") ? path : null;
  } catch {
    // Not found.
    return null;
  }
}
