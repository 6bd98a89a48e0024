import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { findOnPath } from "../confinement/find-launchers.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";
import { OperatorError } from "../errors/operator-error.ts";

export type MediaToolName = "ffmpeg" | "ffprobe";

/** A tool and its build year. */
export type MediaTool = { path: string; year: number };

export type MediaTools = { readonly [tool in MediaToolName]: MediaTool };

const versionMsMax = 20_000;
const memoryBytesMax = 3 * 1024 ** 3;

/**
 * Earlier builds have known vulnerabilities. Distributions update the copyright year with every security fix, also in
 * older releases. Raise it with our releases.
 */
const maintainedYearMin = 2024;

export function isMaintained({ year }: MediaTool): boolean {
  return year >= maintainedYearMin;
}

let found: Promise<MediaTools> | null = null;

/**
 * The system's ffmpeg and ffprobe, unless they are outdated and the npm packages' are newer. Cached; a failed search is
 * repeated, so that installing them needs no restart.
 */
export function findMediaTools(): Promise<MediaTools> {
  found ??= searchTools().catch((error: unknown) => {
    found = null;
    throw error;
  });
  return found;
}

/** For a child without PATH: its parent passes the result. */
export function rememberMediaTools(tools: MediaTools): void {
  found = Promise.resolve(tools);
}

async function searchTools(): Promise<MediaTools> {
  const [ffmpeg, ffprobe] = await Promise.all([findNewest("ffmpeg"), findNewest("ffprobe")]);
  return { ffmpeg, ffprobe };
}

async function findNewest(tool: MediaToolName): Promise<MediaTool> {
  let newest: MediaTool | null = null;
  for (const path of [await findOnPath(tool), findInPackage(tool)]) {
    const candidate = { path: path ?? "", year: path === null ? 0 : await readYear(path) };
    if (candidate.year > (newest?.year ?? 0)) newest = candidate;
    // Prefer a maintained one of the system, which gets security updates.
    if (newest !== null && isMaintained(newest)) return newest;
  }
  if (newest !== null) return newest;
  throw new OperatorError(
    `${tool} was not found, neither on the PATH nor as an npm package for this machine.`,
    `Install ${tool} with the system's package manager, or run \`npm start\`, which installs the npm package.`,
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
    // The package is not installed.
    return null;
  }
}

/** Builds from git have no comparable version, but every build has a copyright year. */
async function readYear(path: string): Promise<number> {
  try {
    const running = await startConfinedProcess({
      name: path,
      command: [path, "-version"],
      environment: {},
      view: { reads: [], writes: [] },
      memory: { kind: "as", bytesMax: memoryBytesMax },
      signal: AbortSignal.timeout(versionMsMax),
      timeoutMs: versionMsMax,
    });
    const [output] = await Promise.all([text(running.stdout), running.ended]);
    return Number(/Copyright \(c\) \d{4}-(\d{4})/.exec(output)?.[1] ?? 0);
  } catch {
    // Wrong architecture, or does not run confined.
    return 0;
  }
}
