import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRepositoryFiles, repositoryDir } from "../harness/repository-files.ts";

/** Words of sentences without an actor. A hit is a sentence to rewrite: who does what to which object. */
const smell =
  /(?<!\w)(?:nobody|whoever|somebody|anew|for ever|(?:tell|tells|told) of|is told|what (?:is|was|has) .* is)(?!\w)/i;

/** The stories and people of the sandbox, and recorded examples. */
const stories =
  /^(?:package-lock\.json|docs\/media\/|packages\/sandbox\/|.*openapi\.json|src\/app\/recorded-examples\.json)/;

/** A Unix user, lines of a script, and sentences in which the pattern is an accident. */
const right = [
  /user nobody|`nobody`|\bnobody = 65_534|\$\{nobody\}|chownSync/,
  /Somebody has (?:to climb up|unlocked the door)/,
  /given what is owed and|returns what is left;|decides what is written and/,
];

/** In tests, data may say anything: titles and comments are prose. */
function isProse(path: string, line: string): boolean {
  if (path === "test/repository/voice.test.ts") return false;
  const isTest = path.startsWith("test/") || /\.test\.tsx?$/.test(path);
  return !isTest || /^\s*(?:\/?\*|\/\/|(?:test|describe)[.(])|\s\/\/ /.test(line);
}

test("sentences name their actor", () => {
  const hits = listRepositoryFiles()
    .filter((path) => /\.(?:tsx?|mjs|md|sql|ya?ml|sh|json)$/.test(path) && !stories.test(path))
    .flatMap((path) =>
      readFileSync(join(repositoryDir, path), "utf8")
        .split("\n")
        .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
        .filter(({ line }) => smell.test(line) && isProse(path, line) && !right.some((allowed) => allowed.test(line))),
    );
  expect(hits.map(({ place, line }) => `${place} ${line.trim()}`)).toEqual([]);
});

test.for([
  "// Nobody waits for it.",
  "/** Whoever asks is told. */",
  "a caller is told of it",
  "what was made is kept, and is paid",
])("a sentence without an actor is found: %s", (line) => {
  expect(smell.test(line)).toBe(true);
});
