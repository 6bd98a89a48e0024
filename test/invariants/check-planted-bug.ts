// Run by `planted-bugs.test.ts` as processes of their own: loads the ledger with one bug in it, compares it with the
// model, and prints what found the bug. With the word `none` the ledger is left as it is.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Disagreement } from "../harness/ledger/disagreement.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs.ts";

/** Always the same scripts, so that what was found once is found for ever. */
const seed = 20_260_617;
const runs = 1500;

export type Verdict = { kind: "found"; by: string } | { kind: "survived" } | { kind: "not-plantable"; reason: string };

if (import.meta.main) console.log(JSON.stringify(await judgeBug(process.argv[2] ?? "none")));

async function judgeBug(name: string): Promise<Verdict> {
  const bug = plantedBugs.find((planted) => planted.name === name);
  if (bug !== undefined) {
    const count = readFileSync(join(repositoryDir, bug.file), "utf8").split(bug.find).length - 1;
    if (count !== 1) return { kind: "not-plantable", reason: `its text occurs ${count} times in ${bug.file}` };
    plant(bug);
  } else if (name !== "none") {
    return { kind: "not-plantable", reason: "there is no such bug" };
  }
  // Only now, because everything that imports the ledger has to get the one with the bug.
  const { applyBatch } = await import("../../src/features/ledger/apply-batch.ts");
  const { checkScripts, compareEarlyWithLate, compareWithModel } = await import(
    "../harness/ledger/compare-with-model.ts"
  );
  try {
    const options = { runs, seed, isShortened: false };
    checkScripts((script) => compareWithModel(script, { applyBatch }), options);
    checkScripts((script) => void compareEarlyWithLate(script, applyBatch), options);
    return { kind: "survived" };
  } catch (error) {
    return judgeFailure(error);
  }
}

/** Code that falls over because the bug was planted clumsily shows nothing about the tests. */
function judgeFailure(error: unknown): Verdict {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Disagreement) return { kind: "found", by: cause.check };
  const message = cause instanceof Error ? cause.message : String(error);
  return message.startsWith("Invariant broken: ")
    ? { kind: "found", by: `the ledger's own ${message.charAt(0).toLowerCase()}${message.slice(1)}` }
    : { kind: "not-plantable", reason: message };
}

function plant({ file, find, replace }: PlantedBug): void {
  const url = pathToFileURL(join(repositoryDir, file)).href;
  registerHooks({
    load(asked, context, nextLoad) {
      const loaded = nextLoad(asked, context);
      return asked === url ? { ...loaded, source: String(loaded.source).replace(find, () => replace) } : loaded;
    },
  });
}
