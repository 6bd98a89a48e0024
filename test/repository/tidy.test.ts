import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRepositoryFiles, repositoryDir } from "../harness/repository-files.ts";
import {
  listClockReads,
  listDoorFaults,
  listHastyLooks,
  listLeftovers,
  listRawWrites,
  listSharedNames,
  type SourceFile,
} from "./untidiness.ts";

/** These two have to contain the patterns that they search for. */
const speakOfLeftovers = ["test/repository/tidy.test.ts", "test/repository/untidiness.ts"];

const files = listRepositoryFiles()
  .filter((path) => /\.(tsx?|mjs|sql|ya?ml|sh|css|html)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(repositoryDir, path), "utf8") }));
const sources = files.filter(({ path }) => /^(src|test|scripts|web)\/.*\.(tsx?|mjs)$/.test(path));

test("no two source files share a name", () => {
  expect(listSharedNames(sources)).toEqual([]);
});

test("no unfinished work is left behind", () => {
  expect(listLeftovers(files.filter(({ path }) => !speakOfLeftovers.includes(path)))).toEqual([]);
});

test("only the clock reads the system time, and no file uses randomness", () => {
  expect(listClockReads(sources)).toEqual([]);
});

test("every feature has an index file that describes its contract", () => {
  expect(listDoorFaults(sources)).toEqual([]);
});

test("only one folder writes responses past the framework", () => {
  expect(listRawWrites(sources)).toEqual([]);
});

test.for(["reply.hijack()", 'reply.raw.write("x")', "raw.writeHead(200)"])("elsewhere, %s is reported", (text) => {
  const paths = ["src/platform/http/hijack-reply.ts", "src/features/chat/chat-routes.ts", "test/api/x.test.ts"];
  expect(listRawWrites(paths.map((path) => ({ path, text })))).toEqual([
    expect.stringMatching(/^src\/features\/chat\/chat-routes\.ts:1/),
  ]);
});

test("no browser test checks once for a text that may appear later or twice", () => {
  expect(listHastyLooks(sources)).toEqual([]);
});

test.for([
  'await page.getByText("Saved").waitFor();',
  "await page.getByText(write(1)).waitFor();",
  'expect(await page.getByLabel("Name").inputValue()).toBe("");',
  "expect(await listAxeFindings(page)).toEqual([]);",
])("a check without a wait is reported: %s", (text) => {
  const paths = ["test/browser/x.test.ts", "test/api/x.test.ts"];
  expect(listHastyLooks(paths.map((path) => ({ path, text })))).toEqual([
    expect.stringMatching(/^test\/browser\/x\.test\.ts:1/),
  ]);
});

test("all files that share a name are reported", () => {
  const paths = ["src/lib/money.ts", "test/money.ts", "src/a/index.ts", "src/b/index.ts", "test/x.ts", "scripts/x.ts"];
  expect(listSharedNames(paths.map(writeNothing))).toEqual([
    "src/lib/money.ts and test/money.ts",
    "test/x.ts and scripts/x.ts",
  ]);
});

test.for(["// TODO: later", "// FIXME", "/* XXX */", "test.only(1)", "value as any", "// @ts-ignore"])(
  "a leftover is reported with its line: %s",
  (line) => {
    expect(listLeftovers([{ path: "src/lib/ids.ts", text: `const todos = 1;\n${line}\n` }])).toEqual([
      expect.stringMatching(/^src\/lib\/ids\.ts:2: /),
    ]);
  },
);

test.for(["Date.now()", "Math.random()", "new Date()"])("outside the clock, %s is reported", (call) => {
  const text = `export const value = ${call};`;
  const paths = ["src/lib/clock.ts", "src/lib/ids.ts", "src/lib/ids.test.ts", "test/flows/chat.ts", "scripts/check.ts"];
  expect(listClockReads(paths.map((path) => ({ path, text })))).toEqual([
    expect.stringMatching(/^src\/lib\/ids\.ts:1/),
  ]);
  expect(listClockReads([{ path: "src/lib/ids.ts", text: "new Date(clock.now())" }])).toEqual([]);
});

test("a feature without a proper index file is reported", () => {
  const features: SourceFile[] = [
    writeNothing("src/features/chat/complete-chat.ts"),
    { path: "src/features/tasks/index.ts", text: 'export { a } from "./a.ts";\n' },
    { path: "src/features/files/index.ts", text: '/** Keeps files. */\nexport * from "./a.ts";\n' },
    { path: "src/features/ledger/index.ts", text: '/** Keeps money. */\nexport { a } from "./a.ts";\n' },
  ];
  expect(listDoorFaults(features)).toEqual([
    "src/features/chat has no index.ts",
    "src/features/tasks/index.ts does not begin with a doc comment",
    "src/features/files/index.ts exports without names",
  ]);
});

function writeNothing(path: string): SourceFile {
  return { path, text: "" };
}
