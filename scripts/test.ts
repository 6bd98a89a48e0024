// `npm test`: installs the programs tests need, then runs every check, and every test without the tag `extended`.
//   npm test -- --whole             every check and every test
//   npm test -- test/api            all tests with these paths, without the checks
//   npm test -- --quick             types, lint and the fast shards: before a commit
//   npm test -- --shard flows       one shard, for machines that run them in parallel; `units` includes the checks
import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { shards } from "../vitest.config.ts";
import { installTestTools } from "./install-test-tools.ts";

const repositoryDir = join(import.meta.dirname, "..");
const programsDir = join(repositoryDir, "node_modules/.bin");

type Plan = { checks: readonly string[] | null; tests: readonly string[] };

const withoutExtended = "--tags-filter=!extended";

const plan = readPlan(process.argv.slice(2));
// Random cases are repeated less often where extended tests are left out.
if (plan.tests.includes(withoutExtended)) process.env.TEST_RUNS ??= "few";
// The download of the programs leaves the processor to the checks, which need none of them.
const [hasPassedChecks] = await Promise.all([
  plan.checks === null || run("node", "scripts/check.ts", ...plan.checks),
  installTestTools(),
]);
const hasPassedTests = await run("vitest", "run", ...plan.tests);
process.exitCode = hasPassedChecks && hasPassedTests ? 0 : 1;

function readPlan(words: readonly string[]): Plan {
  const [first, second = "", ...rest] = words;
  if (first === undefined) return { checks: [], tests: [withoutExtended] };
  if (first === "--whole") return { checks: [], tests: words.slice(1) };
  if (first === "--quick") {
    const fast = ["--project", "units", "--project", "api", withoutExtended];
    return { checks: ["--quick"], tests: [...fast, ...words.slice(1)] };
  }
  if (first !== "--shard") return { checks: null, tests: words };
  if (!shards.includes(second)) {
    console.error(`--shard takes one of ${shards.join(", ")}.`);
    process.exit(2);
  }
  return { checks: second === "units" ? [] : null, tests: ["--project", second, withoutExtended, ...rest] };
}

async function run(program: string, ...args: readonly string[]): Promise<boolean> {
  // Installed programs must find the pinned `node` on the PATH.
  const env = { ...process.env, PATH: `${programsDir}${delimiter}${process.env.PATH}` };
  const child = spawn(join(programsDir, program), args, { cwd: repositoryDir, env, stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code === 0;
}
