import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRepositoryFiles, repositoryDir } from "../harness/repository-files.ts";
import { listDeadAnchors, listFalseClaims, type Repository } from "./list-false-claims.ts";

const smallRepository: Repository = {
  files: ["README.md", "package.json", "docs/api/errors.md", "src/lib/clock.ts", "src/features/chat/index.ts"],
  scripts: ["start", "test", "check", "sluice"],
};

const truths = [
  "`src/lib/clock.ts`",
  "`src/lib/clock.ts:12`",
  "`src/features/`",
  "`src/features/<name>/index.ts`",
  "`src/features/*/*-routes.ts`",
  "`src/{lib/clock,features/chat/index}.ts`",
  "`package.json` and `index.ts`",
  "`sluice.yaml` and `.sluice/`",
  "`POST /v1/chat` and `a/b`",
  "`node src/lib/clock.ts serve`",
  "`npm start`, `npm run check`, `npm run -s sluice -- doctor`, `npm ci`",
  "The first `npm start` installs; npm installs once.",
  "```sh\nnpm test\nnpm run check # then src/nowhere.ts\n```",
  "[errors](api/errors.md#codes), [readme](../README.md), [here](#top), [there](https://example.com/x)",
  "[root](/src/lib/clock.ts)",
  "[errors]: api/errors.md",
];

const untruths = [
  ["`src/lib/clok.ts`", "there is no src/lib/clok.ts"],
  ["`src/utils/`", "there is no src/utils/"],
  ["`src/utils/*.ts`", "there is no src/utils/*.ts"],
  ["`src/utils/<name>.ts`", "there is no src/utils/<name>.ts"],
  ["`src/lib/{clock,money}.ts`", "there is no src/lib/money.ts"],
  ["`node scripts/gone.ts --check`", "there is no scripts/gone.ts"],
  ["`ROADMAP.md`", "there is no ROADMAP.md"],
  ["`npm run chek`", "there is no command npm run chek"],
  ["`npm run -s slice -- doctor`", "there is no command npm run -s slice"],
  ["`npm stop`", "there is no command npm stop"],
  ["```sh\nnpm run ci\n```", "there is no command npm run ci"],
  ["[errors](errors.md)", "the link errors.md leads nowhere"],
  ["![picture](../docs/flow.png)", "the link ../docs/flow.png leads nowhere"],
  ["[errors]: errors.md", "the link errors.md leads nowhere"],
] as const;

test.for(truths)("a document may say %s", (text) => {
  expect(listFalseClaims({ path: "docs/guide.md", text }, smallRepository)).toEqual([]);
});

test.for(untruths)("a document that says %s is reported: %s", ([text, complaint]) => {
  expect(listFalseClaims({ path: "docs/guide.md", text }, smallRepository)).toEqual([`docs/guide.md: ${complaint}`]);
});

const read = (path: string): string => readFileSync(join(repositoryDir, path), "utf8");

/** Decisions are never edited: they name paths as of their date. */
function listDocuments(): string[] {
  return listRepositoryFiles()
    .filter((path) => /^((README|ARCHITECTURE|CONTRIBUTING|AGENTS)|docs\/.*)\.md$/.test(path))
    .filter((path) => !/^docs\/decisions\/\d/.test(path));
}

test("every path, command and link in the documents exists", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const repository = { files: listRepositoryFiles(), scripts: Object.keys(scripts) };
  const falseClaims = listDocuments().flatMap((path) => listFalseClaims({ path, text: read(path) }, repository));
  expect(falseClaims).toEqual([]);
});

test("every anchor of a link is a heading", () => {
  expect(listDocuments().flatMap((path) => listDeadAnchors({ path, text: read(path) }, read))).toEqual([]);
  const other = (): string => "# One\n\n## What a `failure` does\n";
  const text = "[a](#here) [b](other.md#what-a-failure-does) [c](other.md#two)\n\n## Here\n";
  expect(listDeadAnchors({ path: "docs/a.md", text }, other)).toEqual(["docs/a.md: other.md#two is no heading"]);
});
