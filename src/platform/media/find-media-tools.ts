import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { findOnPath } from "../confinement/find-launchers.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";
import { OperatorError } from "../errors/operator-error.ts";

export type MediaToolName = "ffmpeg" | "ffprobe";

/** Where a tool is, and the year of its build. */
export type MediaTool = { path: string; year: number };

export type MediaTools = { readonly [tool in MediaToolName]: MediaTool };

const lookMsMax = 20_000;
const memoryBytesMax = 3 * 1024 ** 3;

/**
 * Builds of before this year have flaws that are public. Who maintains a build brings the year along with every
 * correction, also in older releases. Raised with our own releases.
 */
const maintainedYearMin = 2024;

export function isMaintained({ year }: MediaTool): boolean {
  return year >= maintainedYearMin;
}

let found: Promise<MediaTools> | null = null;

/**
 * The system's ffmpeg and ffprobe, unless they are old and those of our packages are newer. Looked for once; a machine that
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

async function lookForTools(): Promise<MediaTools> {
  const [ffmpeg, ffprobe] = await Promise.all([findNewest("ffmpeg"), findNewest("ffprobe")]);
  return { ffmpeg, ffprobe };
}

async function findNewest(tool: MediaToolName): Promise<MediaTool> {
  let newest: MediaTool | null = null;
  for (const path of [await findOnPath(tool), findInPackage(tool)]) {
    const candidate = { path: path ?? "", year: path === null ? 0 : await readYear(path) };
    if (candidate.year > (newest?.year ?? 0)) newest = candidate;
    // The system's gets its security updates: who has a good one is not asked for more.
    if (newest !== null && isMaintained(newest)) return newest;
  }
  if (newest !== null) return newest;
  throw new OperatorError(
    `There is no ${tool} on this machine: neither on the PATH nor as a package that runs here.`,
    `Install ${tool} with the system's package manager, or run \`npm start\`, which installs a package with it.`,
  );
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
    const running = await startConfinedProcess({
      name: path,
      command: [path, "-version"],
      environment: {},
      view: { reads: [], writes: [] },
      memory: { kind: "as", bytesMax: memoryBytesMax },
      signal: AbortSignal.timeout(lookMsMax),
      timeoutMs: lookMsMax,
    });
    const [said] = await Promise.all([text(running.stdout), running.ended]);
    return Number(/Copyright \(c\) \d{4}-(\d{4})/.exec(said)?.[1] ?? 0);
  } catch {
    // A program of another machine, or one that does not run where it must run later, is none.
    return 0;
  }
}
