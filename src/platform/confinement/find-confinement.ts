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

/** The best way of this machine to confine a process, tried and not believed. Looked for once. */
export function findConfinement(): Promise<Confinement> {
  found ??= lookForConfinement();
  return found;
}

/** For a process that is told by the one that started it: from within, nothing can be tried any more. */
export function rememberConfinement(told: Confinement): void {
  found = Promise.resolve(told.kind === "confined" ? { kind: "inherited" } : told);
}

async function lookForConfinement(): Promise<Confinement> {
  if (process.platform !== "linux") return { kind: "none", reason: "only Linux has what it takes" };
  if (createSeccompFilter({ mayFork: false }) === null) {
    return { kind: "none", reason: `it is not known how on ${process.arch}` };
  }
  const reasons: string[] = [];
  for (const mechanism of mechanisms) {
    const outcome = await tryMechanism(mechanism);
    if (outcome.kind === "confined") return outcome;
    reasons.push(outcome.reason);
  }
  return { kind: "none", reason: reasons.join("; ") };
}

/** Whether a process can read its own file and not the one beside it. */
export async function tryMechanism({ name, program }: Mechanism): Promise<Confinement & { kind: "confined" | "none" }> {
  const [path, cat] = await Promise.all([findOnPath(program), findOnPath("cat")]);
  if (path === null || cat === null) return { kind: "none", reason: `there is no ${path === null ? program : "cat"}` };
  const confinement = { kind: "confined", mechanism: name, path } as const;
  const folder = await mkdtemp(join(tmpdir(), "sluice-confinement-"));
  const [own, other] = [join(folder, "own"), join(folder, "other")];
  try {
    await Promise.all([own, other].map((file) => writeFile(file, "content")));
    const seen = await readConfined([cat, own], own, confinement);
    if (seen !== "content") return { kind: "none", reason: `${program} does not work here` };
    const stolen = await readConfined([cat, other], own, confinement);
    return stolen === null ? confinement : { kind: "none", reason: `${program} keeps nothing away here` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the command says; `null` where it fails. */
async function readConfined(
  command: readonly [string, ...string[]],
  own: string,
  confinement: Confinement,
): Promise<string | null> {
  const running = await spawnConfined(
    {
      name: "the trial of a confinement",
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
    const [said] = await Promise.all([text(running.stdout), running.ended]);
    return said;
  } catch {
    // Why it fails is told by whoever asks for details of the machine; that it does is the answer here.
    return null;
  }
}
