import { execFile } from "node:child_process";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { OperatorError } from "../errors/operator-error.ts";

export type MediaToolName = "ffmpeg" | "ffprobe";

/** Where the tools of this machine are, and the words that a limited child process begins with. */
export type MediaTools = {
  readonly [tool in MediaToolName]: { path: string; year: number };
} & { readonly launchers: Launchers };

/** Programs that start another one under limits; `null` where the machine has none. */
export type Launchers = { prlimit: string | null; nice: string | null; setpriv: string | null };

const run = promisify(execFile);
const lookMsMax = 20_000;

let found: Promise<MediaTools> | null = null;
let launchers: Promise<Launchers> | null = null;

/**
 * The newest ffmpeg and ffprobe: the system's, unless those of our packages are newer. Looked for once; a machine that
 * had none is asked again, so that installing them needs no restart.
 */
export function findMediaTools(): Promise<MediaTools> {
  found ??= lookForTools().catch((error: unknown) => {
    found = null;
    throw error;
  });
  return found;
}

/** For a process that has no PATH and is told by the one that has: nothing is looked for any more. */
export function rememberMediaTools(tools: MediaTools): void {
  found = Promise.resolve(tools);
}

/** Programs that start others under limits; looked for once. */
export function findLaunchers(): Promise<Launchers> {
  launchers ??= lookForLaunchers();
  return launchers;
}

async function lookForTools(): Promise<MediaTools> {
  const [ffmpeg, ffprobe] = await Promise.all([findNewest("ffmpeg"), findNewest("ffprobe")]);
  return { ffmpeg, ffprobe, launchers: await findLaunchers() };
}

async function lookForLaunchers(): Promise<Launchers> {
  const [prlimit, nice, setpriv] = await Promise.all(["prlimit", "nice", "setpriv"].map(findOnPath));
  return { prlimit: prlimit ?? null, nice: nice ?? null, setpriv: setpriv ?? null };
}

async function findNewest(tool: MediaToolName): Promise<{ path: string; year: number }> {
  const paths = [await findOnPath(tool), findInPackage(tool)].filter((path) => path !== null);
  const candidates = await Promise.all(paths.map(async (path) => ({ path, year: await readYear(path) })));
  const usable = candidates.filter(({ year }) => year > 0);
  // Of two that are as new, the first is the system's, which gets its security updates.
  const newest = usable.reduce<(typeof usable)[number] | null>(
    (best, candidate) => (best === null || candidate.year > best.year ? candidate : best),
    null,
  );
  if (newest !== null) return newest;
  throw new OperatorError(
    `There is no ${tool} on this machine: neither on the PATH nor as a package that runs here.`,
    `Install ${tool} with the system's package manager, or run \`npm start\`, which installs a package with it.`,
  );
}

async function findOnPath(program: string): Promise<string | null> {
  try {
    const { stdout } = await run("sh", ["-c", `command -v ${program}`], { timeout: lookMsMax });
    const path = stdout.trim();
    return path.startsWith("/") ? path : null;
  } catch {
    // The shell's way to say that there is none.
    return null;
  }
}

function findInPackage(tool: MediaToolName): string | null {
  try {
    const installer = findPackageJSON(`@${tool}-installer/${tool}`, import.meta.url);
    const manifest = findPackageJSON(
      `@${tool}-installer/${process.platform}-${process.arch}`,
      installer ?? import.meta.url,
    );
    return manifest === undefined ? null : join(dirname(manifest), tool);
  } catch {
    // Node reports a missing package by throwing; absence is an answer here.
    return null;
  }
}

/** Builds from git have no version that could be compared, but every build has the year of its copyright. */
async function readYear(path: string): Promise<number> {
  try {
    const { stdout } = await run(path, ["-version"], { timeout: lookMsMax, env: {} });
    return Number(/Copyright \(c\) \d{4}-(\d{4})/.exec(stdout)?.[1] ?? 0);
  } catch {
    // A program of another machine, or one that may not be run, is none.
    return 0;
  }
}
