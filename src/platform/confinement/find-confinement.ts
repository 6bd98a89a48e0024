import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findLaunchers, findOnPath } from "./find-launchers.ts";
import { type Mechanism, mechanisms } from "./mechanisms.ts";
import { createSeccompFilter } from "./seccomp-filter.ts";
import { type Confinement, spawnConfined } from "./spawn-confined.ts";

const tryMsMax = 20_000;
const memoryBytesMax = 1024 ** 3;

let found: Promise<Confinement> | null = null;

/** The best mechanism that works on this machine, tested once. */
export function findConfinement(): Promise<Confinement> {
  found ??= detectConfinement();
  return found;
}

/** For a confined child: it cannot test mechanisms itself, so its parent passes the result. */
export function rememberConfinement(known: Confinement): void {
  found = Promise.resolve(known.kind === "confined" ? { kind: "inherited" } : known);
}

async function detectConfinement(): Promise<Confinement> {
  if (process.platform !== "linux") return { kind: "none", reason: "confinement needs Linux" };
  if (createSeccompFilter({ mayFork: false }) === null) {
    return { kind: "none", reason: `confinement does not support ${process.arch}` };
  }
  const reasons: string[] = [];
  for (const mechanism of mechanisms) {
    const outcome = await tryMechanism(mechanism);
    if (outcome.kind === "confined") return outcome;
    reasons.push(outcome.reason);
  }
  return { kind: "none", reason: reasons.join("; ") };
}

/** Tests that a process can read its own file but not the one beside it. */
export async function tryMechanism({ name, program }: Mechanism): Promise<Confinement & { kind: "confined" | "none" }> {
  const [path, cat] = await Promise.all([findOnPath(program), findOnPath("cat")]);
  if (path === null || cat === null)
    return { kind: "none", reason: `${path === null ? program : "cat"} is not installed` };
  const confinement = { kind: "confined", mechanism: name, path } as const;
  const folder = await mkdtemp(join(tmpdir(), "sluice-confinement-"));
  const [own, other] = [join(folder, "own"), join(folder, "other")];
  try {
    await Promise.all([own, other].map((file) => writeFile(file, "content")));
    const seen = await readConfined([cat, own], own, confinement);
    if (seen !== "content") return { kind: "none", reason: `${program} does not work on this machine` };
    const stolen = await readConfined([cat, other], own, confinement);
    return stolen === null ? confinement : { kind: "none", reason: `${program} does not isolate on this machine` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The command's output, or `null` if it fails. */
async function readConfined(
  command: readonly [string, ...string[]],
  own: string,
  confinement: Confinement,
): Promise<string | null> {
  const running = await spawnConfined(
    {
      name: "the confinement test",
      command,
      environment: {},
      view: { reads: [own], writes: [] },
      memory: { kind: "as", bytesMax: memoryBytesMax },
      signal: AbortSignal.timeout(tryMsMax),
      timeoutMs: tryMsMax,
    },
    { launchers: await findLaunchers(), confinement },
  );
  try {
    const [output] = await Promise.all([text(running.stdout), running.ended]);
    return output;
  } catch {
    // A failure is a result here.
    return null;
  }
}
