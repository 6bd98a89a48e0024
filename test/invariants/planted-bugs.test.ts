// @module-tag extended
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Verdict } from "./check-planted-bug.ts";
import { plantedBugs } from "./planted-bugs.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "check-planted-bug.ts");
/** One per core of the smallest machine that runs the tests. */
const processCount = 2;
const timeoutMs = 240_000;

test("every bug planted in the ledger is found", { timeout: timeoutMs + 10_000 }, async () => {
  const verdicts = await judgeAll(["none", ...plantedBugs.map(({ name }) => name)]);
  expect(verdicts.get("none")).toEqual({ kind: "survived" });
  verdicts.delete("none");
  expect(verdicts.size).toBe(plantedBugs.length);
  for (const [name, verdict] of verdicts) console.log(`${name} → ${presentVerdict(verdict)}`);
  console.log(`planted bugs: ${verdicts.size}`);
  expect([...verdicts].filter(([, { kind }]) => kind !== "found")).toEqual([]);
});

test("planted bugs have unique names", () => {
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
});

async function judgeAll(names: readonly string[]): Promise<Map<string, Verdict>> {
  const shares = Array.from({ length: processCount }, (_, share) =>
    names.filter((_, index) => index % processCount === share),
  );
  const outputs = await Promise.all(
    shares.map((share) => run(process.execPath, [program, ...share], { timeout: timeoutMs })),
  );
  const lines = outputs.flatMap(({ stdout }) => stdout.trim().split("\n"));
  return new Map(
    lines.map((line) => {
      const { name, verdict } = JSON.parse(line) as { name: string; verdict: Verdict };
      return [name, verdict];
    }),
  );
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
