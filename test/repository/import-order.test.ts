// @module-tag slow
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import extractConfiguration from "dependency-cruiser/config-utl/extract-depcruise-config";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listRepositoryFiles, repositoryDir } from "../harness/repository-files.ts";

const { options, ...ruleSet } = await extractConfiguration(join(repositoryDir, ".dependency-cruiser.mjs"));
type RuleSet = typeof ruleSet;

/** The trees that the tests create: file contents by folder. */
const trees = new Map<string, Record<string, string>>();
const directory = mkdtempSync(join(tmpdir(), "sluice-import-order-"));
let cruised: ICruiseResult;

// One run for all: a cruise spends nine tenths of its time on checking that the rules' expressions are safe.
beforeAll(async () => {
  for (const [name, tree] of trees) {
    for (const [file, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(directory, name, file)), { recursive: true });
      writeFileSync(join(directory, name, file), text);
    }
  }
  const roots = [...trees.keys()].flatMap((name) => ["src", "web", "packages"].map((root) => join(name, root)));
  cruised = await cruiseDirectory(directory, roots, moveRules(ruleSet));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The imports of each file of a small gateway that follows the rules. */
const orderlyTree: Record<string, readonly string[]> = {
  "src/main.ts": ["./cli/serve.ts"],
  "src/cli/serve.ts": ["../app/start-gateway.ts", "../platform/config/settings.ts"],
  "src/app/start-gateway.ts": ["fastify", "../features/dramas/index.ts", "../features/chat/index.ts"],
  "src/features/dramas/index.ts": ["./write-drama.ts"],
  "src/features/dramas/write-drama.ts": ["../tasks/index.ts", "../files/index.ts", "./film/assemble-film.ts"],
  "src/features/dramas/film/assemble-film.ts": [],
  "src/features/tasks/index.ts": ["./create-task.ts"],
  "src/features/tasks/create-task.ts": ["../ledger/index.ts", "../../lib/ids.ts"],
  "src/features/tasks/create-tasks.ts": ["./work/advance-task.ts", "./submit/retry-task.ts", "./task.ts"],
  "src/features/tasks/work/advance-task.ts": ["../machine/decide-transition.ts", "../task.ts"],
  "src/features/tasks/submit/retry-task.ts": ["../read/read-task.ts", "../machine/decide-transition.ts"],
  "src/features/tasks/read/read-task.ts": ["../task.ts"],
  "src/features/tasks/machine/decide-transition.ts": ["../task.ts"],
  "src/features/tasks/task.ts": [],
  "src/features/calls/index.ts": ["./run-call.ts"],
  "src/features/calls/run-call.ts": ["../ledger/index.ts", "../../lib/ids.ts"],
  "src/features/chat/index.ts": ["./chat-routes.ts"],
  "src/features/chat/chat-routes.ts": ["@fastify/multipart", "fastify", "ajv", "./complete-chat.ts"],
  "src/features/chat/complete-chat.ts": ["../ledger/index.ts", "../../providers/call-upstream.ts", "./chat-store.ts"],
  "src/features/chat/chat-store.ts": ["kysely", "../../platform/database/database.ts"],
  "src/features/chat/complete-chat.test.ts": [
    "vitest",
    "./index.ts",
    "./complete-chat.ts",
    "../ledger/index.ts",
    "../../lib/ids.ts",
    "../../../test/harness/start-test-gateway.ts",
  ],
  "src/features/files/index.ts": ["../../platform/storage/bucket.ts"],
  "src/features/ledger/index.ts": ["./open-hold.ts"],
  "src/features/ledger/open-hold.ts": ["../../platform/database/database.ts"],
  "src/providers/call-upstream.ts": ["../platform/net/request.ts", "../lib/ids.ts"],
  "src/providers/contract.ts": ["../lib/ids.ts"],
  "src/providers/provider-registry.ts": ["./contract.ts"],
  "src/platform/config/settings.ts": ["../../lib/ids.ts"],
  "src/platform/database/database.ts": ["kysely", "pg", "./embedded/server.ts"],
  "src/platform/database/embedded/server.ts": ["pg", "../../config/settings.ts"],
  "src/platform/http/server.ts": ["fastify"],
  "src/platform/net/request.ts": [],
  "src/platform/storage/bucket.ts": [],
  "src/lib/ids.ts": [],
  "test/harness/start-test-gateway.ts": ["../../src/app/start-gateway.ts"],
  "test/flows/helper.ts": [],
  "scripts/release.ts": [],
  "web/page.ts": ["./button.ts"],
  "web/button.ts": [],
  "packages/client/client.ts": [],
  "packages/sandbox/src/index.ts": ["../../../src/providers/contract.ts", "./studio/draw.ts"],
  "packages/sandbox/src/index.test.ts": ["vitest", "./index.ts", "../../../test/harness/start-test-gateway.ts"],
  "packages/sandbox/src/studio/draw.ts": ["sharp"],
};

/** The rule that fires for one more import in this file. Missing files are added, to avoid cycles. */
const violations: readonly [rule: string, file: string, addedImport: string][] = [
  ["app-imports-lower-parts-only", "src/app/stop-gateway.ts", "../cli/serve.ts"],
  ["tasks-imports-lower-parts-only", "src/features/tasks/cancel-task.ts", "../dramas/index.ts"],
  ["chat-imports-lower-parts-only", "src/features/chat/complete-chat.ts", "../tasks/index.ts"],
  ["calls-imports-lower-parts-only", "src/features/calls/run-call.ts", "../chat/index.ts"],
  ["ledger-imports-lower-parts-only", "src/features/ledger/settle-hold.ts", "../files/index.ts"],
  ["ledger-imports-lower-parts-only", "src/features/ledger/settle-hold.ts", "../tasks/index.ts"],
  ["providers-imports-lower-parts-only", "src/providers/call-upstream.ts", "../features/ledger/index.ts"],
  ["platform-imports-lower-parts-only", "src/platform/jobs/queue.ts", "../../providers/call-upstream.ts"],
  ["lib-imports-lower-parts-only", "src/lib/ids.ts", "../platform/storage/bucket.ts"],
  ["lib-imports-lower-parts-only", "src/lib/ids.test.ts", "../platform/storage/bucket.ts"],
  ["chat-imports-lower-parts-only", "src/features/chat/complete-chat.test.ts", "../tasks/index.ts"],
  [
    "tests-beside-the-code-use-the-harness-only",
    "src/features/chat/complete-chat.test.ts",
    "../../../test/flows/helper.ts",
  ],
  ["features-are-entered-by-their-door", "src/features/chat/complete-chat.ts", "../ledger/open-hold.ts"],
  ["features-are-entered-by-their-door", "src/app/start-gateway.ts", "../features/ledger/open-hold.ts"],
  ["features-are-entered-by-their-door", "src/main.ts", "./features/ledger/open-hold.ts"],
  [
    "tasks-machine-imports-lower-layers-only",
    "src/features/tasks/machine/apply-transition.ts",
    "../work/advance-task.ts",
  ],
  ["tasks-read-imports-lower-layers-only", "src/features/tasks/read/cancel-task.ts", "../submit/retry-task.ts"],
  ["tasks-work-imports-lower-layers-only", "src/features/tasks/work/task-worker.ts", "../create-tasks.ts"],
  ["tasks-base-imports-lower-layers-only", "src/features/tasks/task-store.ts", "./machine/decide-transition.ts"],
  ["dramas-film-imports-lower-layers-only", "src/features/dramas/film/join-pieces.ts", "../write-drama.ts"],
  ["no-feature-uses-its-own-door", "src/features/ledger/settle-hold.ts", "./index.ts"],
  ["no-circles", "src/platform/config/settings.ts", "../database/database.ts"],
  ["http-framework-at-the-edge", "src/features/chat/complete-chat.ts", "fastify"],
  ["http-framework-at-the-edge", "src/features/chat/chat-store.ts", "@fastify/static"],
  ["http-framework-at-the-edge", "src/platform/config/settings.ts", "ajv"],
  ["http-framework-at-the-edge", "src/platform/config/settings.ts", "ajv/dist/2020.js"],
  ["sql-in-stores", "src/features/chat/chat-routes.ts", "kysely"],
  ["sql-in-stores", "src/app/start-gateway.ts", "pg"],
  ["pictures-in-confined-processes", "src/platform/config/settings.ts", "sharp"],
  ["programs-by-the-door", "src/features/chat/complete-chat.ts", "node:child_process"],
  ["src-stands-alone", "src/app/start-gateway.ts", "../../web/page.ts"],
  ["src-stands-alone", "src/app/start-gateway.ts", "../../packages/client/client.ts"],
  ["src-stands-alone", "src/lib/ids.ts", "../../test/flows/helper.ts"],
  ["src-stands-alone", "src/lib/ids.ts", "../../scripts/release.ts"],
  ["pictures-in-confined-processes", "packages/sandbox/src/index.ts", "sharp"],
  ["programs-by-the-door", "packages/sandbox/src/studio/draw.ts", "node:child_process"],
  ["adapters-are-loaded-when-named", "src/providers/provider-registry.ts", "../../packages/sandbox/src/index.ts"],
  ["src-stands-alone", "src/providers/call-upstream.ts", "../../packages/sandbox/src/index.ts"],
  ["adapters-know-the-contract-only", "packages/sandbox/src/index.ts", "../../../src/providers/call-upstream.ts"],
  ["adapters-know-the-contract-only", "packages/sandbox/src/index.ts", "../../client/client.ts"],
  ["adapters-know-the-contract-only", "packages/sandbox/src/index.ts", "../../../test/flows/helper.ts"],
  ["tests-of-adapters-use-the-harness-only", "packages/sandbox/src/index.test.ts", "../../../src/lib/ids.ts"],
  ["web-and-packages-stand-alone", "web/page.ts", "../src/lib/ids.ts"],
  ["web-and-packages-stand-alone", "packages/client/client.ts", "../../src/lib/ids.ts"],
];

const orderly = plantTree({});

test("a correct tree breaks no rule", () => {
  expect(listBrokenRules(orderly)).toEqual([]);
  expect(cruised.modules.filter(({ source }) => source.startsWith(`${orderly}/`)).length).toBeGreaterThan(20);
});

test.for(
  violations.map(([rule, file, addedImport]) => {
    const tree = plantTree({ [file]: writeImports([...(orderlyTree[file] ?? []), addedImport]) });
    return [rule, file, addedImport, tree] as const;
  }),
)("%s: %s may not import %s", ([rule, , , tree]) => {
  expect(listBrokenRules(tree)).toEqual([rule]);
});

test.for(
  [
    "src/utils/text.ts",
    "src/stray.ts",
    "src/features/text.ts",
    "src/features/chat/parts/text.ts",
    "src/platform/text.ts",
    "src/platform/misc/text.ts",
    "src/platform/database/embedded/deep/text.ts",
  ].map((file) => [file, plantTree({ [file]: "" })] as const),
)("folders-are-known: %s lies outside the table", ([, tree]) => {
  expect(listBrokenRules(tree)).toEqual(["folders-are-known"]);
});

test.for(
  [
    'import type { Thing } from "kysely";',
    'import { type Thing } from "kysely";',
    'export type { Thing } from "kysely";',
    'export * from "kysely";',
    'export const load = async () => (await import("kysely")).sql;',
  ].map((statement) => [statement, plantTree({ "src/lib/ids.ts": statement })] as const),
)("an import is seen however it is written: %s", ([, tree]) => {
  expect(listBrokenRules(tree)).toEqual(["sql-in-stores"]);
});

const [byTheDoor, pastTheDoor] = ["index.ts", "studio/draw.ts"].map((file) =>
  plantTree({
    "src/providers/provider-registry.ts": `export const load = () => import("../../packages/sandbox/src/${file}");`,
  }),
);

test("the registry loads an adapter through its index file, on demand", () => {
  expect(listBrokenRules(byTheDoor)).toEqual([]);
  expect(listBrokenRules(pastTheDoor)).toEqual(["adapters-are-entered-by-their-door"]);
});

test("no import hides inside a type, which the parser does not see", () => {
  const offenders = listRepositoryFiles()
    .filter((path) => /^(src|packages)\/.*\.ts$/.test(path))
    .filter((path) => /typeof import\(|import\("[^"]*"\)\.[A-Z]/.test(readFileSync(join(repositoryDir, path), "utf8")));
  expect(offenders).toEqual([]);
});

/** Adds the correct tree with some changed files to the cruised trees, and returns its folder. */
function plantTree(changes: Record<string, string>): string {
  const name = `tree-${String(trees.size).padStart(2, "0")}`;
  const texts = Object.entries(orderlyTree).map(([file, imports]) => [file, writeImports(imports)]);
  trees.set(name, { ...Object.fromEntries(texts), ...changes });
  return name;
}

function writeImports(names: readonly string[]): string {
  return names.map((name) => `import ${JSON.stringify(name)};\n`).join("");
}

/** The same rules for trees that each lie in a folder of their own. */
function moveRules(rules: RuleSet): RuleSet {
  // A `^` after a bracket negates a character class; it does not start a path.
  const move = (path: string): string => path.replaceAll(/(?<!\[)\^/g, "^(?:tree-\\d\\d/)?");
  return JSON.parse(JSON.stringify(rules), (key, value) => {
    if (key !== "path" && key !== "pathNot") return value;
    return Array.isArray(value) ? value.map(move) : move(value);
  });
}

async function cruiseDirectory(baseDir: string, roots: string[], rules: RuleSet): Promise<ICruiseResult> {
  const { output } = await cruise(roots, { ...options, baseDir, ruleSet: rules, validate: true });
  if (typeof output === "string") throw new Error(output);
  return output;
}

function listBrokenRules(tree: string | undefined): string[] {
  const broken = cruised.summary.violations.filter(({ from }) => from.startsWith(`${tree}/`));
  return [...new Set(broken.map(({ rule }) => rule.name))];
}
