// `npm test`: installs the programs tests need, then runs every test without the tag `extended`, and every check beside.
//   npm test -- --whole             every check and every test
//   npm test -- test/api            all tests with these paths, without the checks
//   npm test -- --quick             types, lint and the fast tests of the fast shards: before a commit
//   npm test -- --shard flows       one shard, for machines that run them in parallel; `units` includes the checks
import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { shards } from "../test/harness/shards.ts";
import { installTestTools } from "./install-test-tools.ts";

const repositoryDir = join(import.meta.dirname, "..");
const programsDir = join(repositoryDir, "node_modules/.bin");
// Installed programs must find the pinned `node`.
process.env.PATH = `${programsDir}${delimiter}${process.env.PATH}`;

type Plan = { checks: readonly string[] | null; tests: readonly string[] };

const withoutExtended = "--tags-filter=!extended";
const onlyFast = "--tags-filter=!extended && !slow";

const plan = readPlan(process.argv.slice(2));
// Random cases are repeated less often where extended tests are left out.
if (plan.tests.some((word) => word === withoutExtended || word === onlyFast)) process.env.TEST_RUNS ??= "few";
// The checks run beside the download of the programs and the tests, which both wait more than they work.
const checks = plan.checks === null ? null : runAside("node", "scripts/check.ts", ...plan.checks);
await installTestTools();
const hasPassedTests = await run("vitest", "run", ...plan.tests);
const { hasPassed: hasPassedChecks, output } = (await checks) ?? { hasPassed: true, output: "" };
process.stdout.write(output);
process.exitCode = hasPassedChecks && hasPassedTests ? 0 : 1;

function readPlan(words: readonly string[]): Plan {
  const [first, second = "", ...rest] = words;
  if (first === undefined) return { checks: [], tests: [withoutExtended] };
  if (first === "--whole") return { checks: [], tests: words.slice(1) };
  if (first === "--quick") {
    return { checks: ["--quick"], tests: [...listFolders("units", "api"), onlyFast, ...words.slice(1)] };
  }
  if (first !== "--shard") return { checks: null, tests: words };
  const folders = listFolders(second);
  if (folders.length === 0) {
    console.error(`--shard takes one of ${Object.keys(shards).join(", ")}.`);
    process.exit(2);
  }
  return { checks: second === "units" ? [] : null, tests: [...folders, withoutExtended, ...rest] };
}

/** From the root, because the runner looks for a filter anywhere in a path. */
function listFolders(...names: readonly string[]): string[] {
  return names.flatMap((name) => shards[name] ?? []).map((folder) => join(repositoryDir, folder));
}

async function run(program: string, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(join(programsDir, program), args, { cwd: repositoryDir, stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code === 0;
}

/** What it prints is kept for the end, where it is found. */
async function runAside(program: string, ...args: readonly string[]): Promise<{ hasPassed: boolean; output: string }> {
  const child = spawn(join(programsDir, program), args, {
    cwd: repositoryDir,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const output = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { hasPassed: code === 0, output: output.join("") };
}
