import fc from "fast-check";
import { expect, test } from "vitest";
import { unicodeText } from "../../test/harness/unicode-text.ts";
import { countTokens, createTokenMeter } from "./token-meter.ts";

test.each([
  ["nothing", "", 0],
  ["one letter", "a", 1],
  ["four letters", "abcd", 1],
  ["five letters", "abcde", 2],
  ["accents and umlauts, as Latin letters", "äöüß", 1],
  ["the last letter that counts as Latin", "\u024f\u024f\u024f\u024f", 1],
  ["the first letter that does not", "\u0250\u0250\u0250\u0250", 4],
  ["Chinese, a token for each character", "你好世界", 4],
  ["pictures, a token for each", "😀😀", 2],
  ["Latin and Chinese together", "abcd你好", 3],
])("%s: %j", (_name, text, tokens) => {
  expect(countTokens(text)).toBe(tokens);
});

const anyText = unicodeText({ maxLength: 200 });

test("the count does not depend on how the text is split, even inside a character", () => {
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(200), { maxLength: 10 }), (text, cuts) => {
      const meter = createTokenMeter();
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length];
      for (const [index, from] of places.slice(0, -1).entries()) meter.add(text.slice(from, places[index + 1]));
      expect(meter.tokens()).toBe(countTokens(text));
    }),
  );
});

test("more text never counts fewer tokens, and any text counts at least one", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      expect(countTokens(one + other)).toBeGreaterThanOrEqual(countTokens(one));
      if (one.isWellFormed() && one !== "") expect(countTokens(one)).toBeGreaterThanOrEqual(1);
    }),
  );
});

test("the counts of two texts add up, except for one token of rounding", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      const apart = countTokens(one) + countTokens(other);
      const together = countTokens(one + other);
      expect(together).toBeLessThanOrEqual(apart);
      expect(together).toBeGreaterThanOrEqual(apart - 1);
    }),
  );
});

test("a text never counts more tokens than it has bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
      expect(countTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
    }),
  );
});
