// The whole of `npm test`: what the tests need, then every check, then every test. With words after it
// (`npm test -- test/api`) only the tests that they name.
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { installTestTools } from "./install-test-tools.ts";

const repositoryDir = join(import.meta.dirname, "..");
const programsDir = join(repositoryDir, "node_modules/.bin");
const words = process.argv.slice(2);

installTestTools();
const hasPassedChecks = words.length > 0 || run("node", "scripts/check.ts");
const hasPassedTests = run("vitest", "run", ...words);
process.exitCode = hasPassedChecks && hasPassedTests ? 0 : 1;

function run(program: string, ...args: readonly string[]): boolean {
  // The installed programs look for `node` on the PATH, and must find the pinned one.
  const env = { ...process.env, PATH: `${programsDir}${delimiter}${process.env.PATH}` };
  return spawnSync(join(programsDir, program), args, { cwd: repositoryDir, env, stdio: "inherit" }).status === 0;
}
