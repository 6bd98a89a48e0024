import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRepositoryFiles, repositoryDir } from "../harness/repository-files.ts";

/** Words of sentences without an actor. Rewrite the sentence: who does what to which object. */
const smell =
  /(?<!\w)(?:nobody|whoever|somebody|anew|for ever|(?:tell|tells|told) of|is told|what (?:is|was|has) .* is)(?!\w)/i;

/** Text that is no prose of ours: stories, prompts, a Unix user, the patterns of this test. */
const exempt = /^(?:package-lock\.json|docs\/media\/|packages\/sandbox\/|test\/repository\/voice\.test\.ts)/;

/** Hits that are right as they are, or not rewritten yet. The numbers only fall. */
const allowed: Readonly<Record<string, number>> = {};

test("sentences name their actor", () => {
  const hits = new Map<string, string[]>();
  for (const path of listRepositoryFiles()) {
    if (exempt.test(path) || !/\.(?:tsx?|mjs|md|sql|ya?ml|sh|json)$/.test(path)) continue;
    const [part = ""] = path.split("/");
    for (const [index, line] of readFileSync(join(repositoryDir, path), "utf8").split("\n").entries()) {
      if (smell.test(line)) hits.set(part, [...(hits.get(part) ?? []), `${path}:${index + 1} ${line.trim()}`]);
    }
  }
  const tooMany = [...hits].filter(([part, lines]) => lines.length > (allowed[part] ?? 0));
  expect(tooMany.flatMap(([, lines]) => lines)).toEqual([]);
  // A number that is higher than needed would let new ones in.
  for (const [part, most] of Object.entries(allowed))
    expect(`${part}: ${hits.get(part)?.length ?? 0}`).toBe(`${part}: ${most}`);
});
