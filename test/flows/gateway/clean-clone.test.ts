// @module-tag extended
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { findFreePort } from "../../harness/gateway-process.ts";
import { listRepositoryFiles, repositoryDir } from "../../harness/repository-files.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const startMsMax = 240_000;

/** The environment of a new user with Node and npm, without anything that this test run has set up. */
function createNewcomersEnvironment(port: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|SLUICE_|DATABASE_URL$|NODE_|VITE|VITEST|INIT_CWD$|CI$)/.test(name) || name === "NODE_EXTRA_CA_CERTS",
  );
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter), SLUICE_PORT: port };
}

/** Runs `npm start` until the gateway answers, then stops it as a supervisor would. Returns its output. */
async function startAndStop(folder: string, port: string): Promise<string> {
  const child = spawn("npm", ["start"], { cwd: folder, env: createNewcomersEnvironment(port) });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
    });
  }
  const exited = new Promise((settle) => child.once("close", settle));
  const look = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}: ${output}`);
    const answer = await fetch(`http://localhost:${port}/readyz`).catch(() => null);
    return answer?.status === 200;
  };
  await waitUntil("the gateway answers", look, startMsMax);
  child.kill("SIGTERM");
  await exited;
  const stillAnswers = await fetch(`http://localhost:${port}/readyz`).then(
    () => true,
    () => false,
  );
  expect(stillAnswers).toBe(false);
  return output;
}

// `npm test` installed the packages of a clean clone with the same script before. Installing them again would take
// longer than any other test.
test("a copy of the repository with its packages starts with npm start alone, and builds nothing the second time", {
  timeout: startMsMax + 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-clone-"));
  for (const file of listRepositoryFiles()) cpSync(join(repositoryDir, file), join(folder, file));
  symlinkSync(join(repositoryDir, "node_modules"), join(folder, "node_modules"));
  const port = await findFreePort();
  const first = await startAndStop(folder, port);
  expect(first).toMatch(/Creating the database.*Sluice is running/s);
  expect(existsSync(join(folder, "dist/web"))).toBe(true);
  const second = await startAndStop(folder, port);
  expect(second).toContain("Sluice is running");
  expect(second).not.toMatch(/Install|Creating/);
  rmSync(folder, { recursive: true });
});
