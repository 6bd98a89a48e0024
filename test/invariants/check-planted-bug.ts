// `planted-bugs.test.ts` runs this as a process: for each bug named on the command line it loads a ledger with that
// bug, compares it with the model, and prints the verdict as a line of JSON. `none` is the unchanged ledger.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Disagreement } from "../harness/ledger/disagreement.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs.ts";

/** The same scripts in every run: a bug found once is found again. */
const seed = 20_260_617;
const runs = 1500;

export type Verdict = { kind: "found"; by: string } | { kind: "survived" } | { kind: "not-plantable"; reason: string };

if (import.meta.main) {
  plantBugs();
  for (const name of process.argv.slice(2)) console.log(JSON.stringify({ name, verdict: await judgeBug(name) }));
}

async function judgeBug(name: string): Promise<Verdict> {
  const bug = plantedBugs.find((planted) => planted.name === name);
  if (bug !== undefined) {
    const count = readFileSync(join(repositoryDir, bug.file), "utf8").split(bug.find).length - 1;
    if (count !== 1) return { kind: "not-plantable", reason: `its text occurs ${count} times in ${bug.file}` };
  } else if (name !== "none") {
    return { kind: "not-plantable", reason: "there is no such bug" };
  }
  const query = nameQuery(bug);
  const { applyBatch }: typeof import("../../src/features/ledger/apply-batch.ts") = await import(
    `../../src/features/ledger/apply-batch.ts${query}`
  );
  const {
    checkScripts,
    compareEarlyWithLate,
    compareWithModel,
  }: typeof import("../harness/ledger/compare-with-model.ts") = await import(
    `../harness/ledger/compare-with-model.ts${query}`
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

function nameQuery(bug: PlantedBug | undefined): string {
  return `?bug=${bug === undefined ? "none" : plantedBugs.indexOf(bug)}`;
}

/** An exception from a clumsily planted bug proves nothing about the tests. */
function judgeFailure(error: unknown): Verdict {
  const cause = error instanceof Error ? error.cause : undefined;
  // Not `instanceof`: each bug has a class of its own.
  if (cause instanceof Error && cause.name === "Disagreement")
    return { kind: "found", by: (cause as Disagreement).check };
  const message = cause instanceof Error ? cause.message : String(error);
  return message.startsWith("Invariant broken: ")
    ? { kind: "found", by: `the ledger's own ${message.charAt(0).toLowerCase()}${message.slice(1)}` }
    : { kind: "not-plantable", reason: message };
}

/**
 * Passes `?bug=` on from each module to its imports, so that one process contains a ledger for each bug, and changes
 * the bug's file on load. With one process per bug, loading the common modules took most of the time.
 */
function plantBugs(): void {
  const bugs = new Map<string, PlantedBug>(
    plantedBugs.map((bug) => [pathToFileURL(join(repositoryDir, bug.file)).href + nameQuery(bug), bug]),
  );
  const ownFiles = ["src/", "test/harness/"].map((folder) => pathToFileURL(join(repositoryDir, folder)).href);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const query = /\?bug=.*$/.exec(context.parentURL ?? "")?.[0];
      const isOwn = ownFiles.some((folder) => resolved.url.startsWith(folder));
      return query === undefined || !isOwn || resolved.url.endsWith(query)
        ? resolved
        : { ...resolved, url: resolved.url + query };
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const bug = bugs.get(url);
      return bug === undefined
        ? loaded
        : { ...loaded, source: String(loaded.source).replace(bug.find, () => bug.replace) };
    },
  });
}
