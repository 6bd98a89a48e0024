import { expect, test } from "vitest";
import { parseStudioScript } from "./studio-script.ts";

const quiet = parseStudioScript("").script;

test.each([
  ["[[ambiguous]]", { isAmbiguous: true }],
  ["[[LOST]]", { isLost: true }],
  ["[[stuck]]", { isStuck: true }],
  ["[[uncancelable]]", { isUncancelable: true }],
  ["[[partial:2]]", { partialCount: 2 }],
  ["[[delay:30]]", { delayMs: 30_000 }],
  ["[[cut:5]]", { cutAfterPieces: 5 }],
])("%s sets %j and keeps the text", (word, change) => {
  expect(parseStudioScript(`A cat ${word} at night`)).toEqual({
    text: "A cat at night",
    script: { ...quiet, ...change },
  });
});

test("failures are those of chat", () => {
  expect(parseStudioScript("[[fail:content_policy]]").script.failure?.kind).toBe("content-refused");
});

test.each(["[[partial]]", "[[partial:-1]]", "[[partial:1e9]]", "[[lost:1]]", "[stuck]"])("%s is unknown", (word) => {
  expect(parseStudioScript(`a ${word} b`)).toEqual({ text: `a ${word} b`, script: quiet });
});
