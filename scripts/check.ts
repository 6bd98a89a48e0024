// Runs every check that needs no gateway; with `--quick`, types and lint only. `npm test` runs this beside the tests.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";

type Check = { name: string; isQuick: boolean; command: readonly [program: string, ...words: string[]] };
type Outcome = { hasPassed: boolean; output: string; seconds: number };

const repositoryDir = join(import.meta.dirname, "..");
const programsDir = join(repositoryDir, "node_modules/.bin");

/** Most checks use several cores, so more at once would be slower on a small machine. */
const checksAtOnceMax = 2;

const cruisedFolders = ["src", "web", "packages"].filter((folder) => existsSync(join(repositoryDir, folder)));

/**
 * Slowest first: the total takes little longer than that check alone. On one thread, `tsc` takes a third less processor
 * time.
 */
const checks: readonly Check[] = [
  { name: "types", isQuick: true, command: ["tsc", "--singleThreaded"] },
  { name: "types of the site", isQuick: true, command: ["tsc", "--singleThreaded", "-p", "web"] },
  { name: "generated files", isQuick: false, command: ["node", "scripts/generate.ts", "--check"] },
  {
    name: "format and lint",
    isQuick: true,
    command: ["biome", "check", "--error-on-warnings", "--max-diagnostics=none", "."],
  },
  {
    name: "import order",
    isQuick: false,
    command: ["depcruise", "--config", ".dependency-cruiser.mjs", ...cruisedFolders],
  },
  { name: "dead code", isQuick: false, command: ["knip", "--no-progress", "--treat-config-hints-as-errors"] },
];

const isQuickRun = process.argv.includes("--quick");
const waiting = checks.filter(({ isQuick }) => isQuick || !isQuickRun);
const failures: string[] = [];
await Promise.all(Array.from({ length: checksAtOnceMax }, runWaitingChecks));
for (const failure of failures) console.error(failure);
process.exitCode = failures.length === 0 ? 0 : 1;

async function runWaitingChecks(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const { hasPassed, output, seconds } = await runCheck(check);
    console.log(`${hasPassed ? "ok    " : "failed"}  ${seconds.toFixed(1).padStart(5)} s  ${check.name}`);
    if (!hasPassed) failures.push(`\n── ${check.name}: ${check.command.join(" ")}\n${output.trimEnd()}`);
  }
}

async function runCheck({ command: [program, ...words] }: Check): Promise<Outcome> {
  const startedAt = performance.now();
  // Installed programs must find the pinned `node` on the PATH.
  const env = { ...process.env, PATH: `${programsDir}${delimiter}${process.env.PATH}` };
  const child = spawn(join(programsDir, program), words, {
    cwd: repositoryDir,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<string | null>((settle) => {
    child.once("error", (error) => settle(error.message));
    child.once("close", (code) => settle(code === 0 ? null : `It ended with ${code ?? "a signal"}.`));
  });
  const [complaint, ...output] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const seconds = (performance.now() - startedAt) / 1000;
  return { hasPassed: complaint === null, output: [...output, complaint].join("\n"), seconds };
}
