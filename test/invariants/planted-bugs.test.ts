import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import type { Verdict } from "./check-planted-bug.ts";
import { plantedBugs } from "./planted-bugs.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "check-planted-bug.ts");
/** As many as there are cores on the smallest machine that runs the tests. */
const atOnceMax = 2;
const timeoutMs = 60_000;
/** Nearly all of what these processes load is the same, and most of their time would go into compiling it. */
const compileCacheDir = mkdtempSync(join(tmpdir(), "sluice-planted-bugs-"));
const env = { ...process.env, NODE_COMPILE_CACHE: compileCacheDir };

afterAll(() => rmSync(compileCacheDir, { recursive: true }));

test("each bug that is planted in the ledger is found", { timeout: 5 * timeoutMs }, async () => {
  const verdicts = await judgeAll(["none", ...plantedBugs.map(({ name }) => name)]);
  expect(verdicts.get("none")).toEqual({ kind: "survived" });
  verdicts.delete("none");
  for (const [name, verdict] of verdicts) console.log(`${name} → ${presentVerdict(verdict)}`);
  console.log(`planted bugs: ${verdicts.size}`);
  expect([...verdicts].filter(([, { kind }]) => kind !== "found")).toEqual([]);
});

test("no two planted bugs have one name", () => {
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
});

async function judgeAll(names: readonly string[]): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  const waiting = [...names];
  async function judgeInTurn(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const { stdout } = await run(process.execPath, [program, name], { env, timeout: timeoutMs });
      verdicts.set(name, JSON.parse(stdout));
    }
  }
  await Promise.all(Array.from({ length: atOnceMax }, judgeInTurn));
  return verdicts;
}

function presentVerdict(verdict: Verdict): string {
  switch (verdict.kind) {
    case "found":
      return verdict.by;
    case "survived":
      return "nothing found it";
    case "not-plantable":
      return `it cannot be planted: ${verdict.reason}`;
  }
}
