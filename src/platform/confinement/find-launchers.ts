import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Programs that start another one under limits; `null` where the machine has none. */
export type Launchers = { prlimit: string | null; nice: string | null; setpriv: string | null };

const run = promisify(execFile);
const lookMsMax = 20_000;

let launchers: Promise<Launchers> | null = null;

/** Looked for once. */
export function findLaunchers(): Promise<Launchers> {
  launchers ??= lookForLaunchers();
  return launchers;
}

/** For a process that has no PATH and is told by the one that has: nothing is looked for any more. */
export function rememberLaunchers(told: Launchers): void {
  launchers = Promise.resolve(told);
}

async function lookForLaunchers(): Promise<Launchers> {
  const [prlimit, nice, setpriv] = await Promise.all(["prlimit", "nice", "setpriv"].map(findOnPath));
  return { prlimit: prlimit ?? null, nice: nice ?? null, setpriv: setpriv ?? null };
}

export async function findOnPath(program: string): Promise<string | null> {
  try {
    const { stdout } = await run("sh", ["-c", `command -v ${program}`], { timeout: lookMsMax });
    const path = stdout.trim();
    return path.startsWith("/") ? path : null;
  } catch {
    // The shell's way to say that there is none.
    return null;
  }
}
