import { expect, test } from "vitest";
import { splitSentences } from "./split-sentences.ts";

test.each([
  ["One. Two! Three?", ["One.", "Two!", "Three?"]],
  ["It costs 3.14 dollars. Really.", ["It costs 3.14 dollars.", "Really."]],
  ["你好。世界！", ["你好。", "世界！"]],
  ["No end", ["No end"]],
  ["First line\nSecond line", ["First line", "Second line"]],
  ["Wait... what?", ["Wait...", "what?"]],
  ["… !!! ?", []],
  ["", []],
])("%j is spoken in the parts %j", (text, parts) => {
  expect(splitSentences(text)).toEqual(parts);
});

test("a long sentence is split at pauses, and nothing is lost", () => {
  const text = "word and word, ".repeat(100);
  const parts = splitSentences(text);
  expect(parts.every((part) => part.length <= 240)).toBe(true);
  expect(parts.slice(0, -1).every((part) => part.endsWith(","))).toBe(true);
  expect(parts.join(" ")).toBe(text.trim());
  expect(splitSentences("长".repeat(1000)).join("")).toBe("长".repeat(1000));
});
