import fc from "fast-check";
import { expect, test } from "vitest";
import { unicodeText } from "../../../../test/harness/unicode-text.ts";
import { countTokens, splitTokens } from "./sandbox-tokens.ts";

test("tokens joined are the text", () => {
  fc.assert(
    fc.property(unicodeText({ maxLength: 200 }), (text) => {
      const tokens = [...splitTokens(text)];
      expect(tokens.join("")).toBe(text);
      expect(countTokens(text)).toBe(tokens.length);
      expect(tokens.every((token) => token.length >= 1 && token.length <= 32)).toBe(true);
    }),
  );
});

test.each([
  ["Hello, world!", ["Hello", ",", " world", "!"]],
  ["internationalization", ["inte", "rnat", "iona", "lization"]],
  ["你好 world", ["你", "好", " world"]],
  ["a\n\nb", ["a", "\n\n", "b"]],
  ["", []],
])("%j is split at words, punctuation and ideographs", (text, tokens) => {
  expect([...splitTokens(text)]).toEqual(tokens);
});

test("text beyond the limit is counted by its length", () => {
  expect(countTokens("aa ".repeat(10), 12)).toBe(5 + Math.ceil(18 / 4));
});
