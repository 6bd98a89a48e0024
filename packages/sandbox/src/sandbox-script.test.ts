import { expect, test } from "vitest";
import { parseScript } from "./sandbox-script.ts";

test.each([
  ["[[fail:content_policy]]", "content-refused"],
  ["[[fail:too_long]]", "too-long"],
  ["[[fail:rejected]]", "rejected"],
  ["[[429]]", "rate-limited"],
  ["[[500]]", "overloaded"],
  ["[[503]]", "overloaded"],
  ["[[timeout]]", "timeout"],
  ["[[TIMEOUT]]", "timeout"],
])("%s fails with the kind %s", (word, kind) => {
  const { text, script } = parseScript(`Say ${word} hello`);
  expect(script.failure?.kind).toBe(kind);
  expect(text).toBe("Say hello");
});

test("a rate limit has a retry time", () => {
  expect(parseScript("[[429]]").script.failure?.retryAfterMs).toBe(2000);
});

test.each([
  ["[[delay:30]]", { delayMs: 30_000 }],
  ["[[delay:0.25]]", { delayMs: 250 }],
  ["[[delay:999]]", { delayMs: 120_000 }],
  ["[[slow:0.2]]", { slowMs: 200 }],
  ["[[slow:1000]]", { slowMs: 120_000 }],
  ["[[cut:5]]", { cutAfterPieces: 5 }],
  ["[[cut:0]]", { cutAfterPieces: 0 }],
  ["[[long:2000]]", { longTokens: 2000 }],
  ["[[long:999999999]]", { longTokens: 100_000 }],
  ["[[empty]] [[no-usage]]", { isEmpty: true, hasUsage: false }],
  ["[[silent]]", { isSilent: true }],
])("%s sets %j and nothing else", (word, change) => {
  const quiet = parseScript("").script;
  expect(parseScript(word)).toEqual({ text: "", script: { ...quiet, ...change } });
});

test.each([
  "[[Main Page]]",
  "[[delay]]",
  "[[delay:soon]]",
  "[[delay:-1]]",
  "[[cut:1e9]]",
  "[[__proto__]]",
  "[[constructor:1]]",
  "[429]",
  "[[fail:other]]",
])("%s is unknown and stays in the text", (word) => {
  expect(parseScript(`a ${word} b`)).toEqual({ text: `a ${word} b`, script: parseScript("").script });
});
