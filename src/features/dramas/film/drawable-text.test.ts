import { expect, test } from "vitest";
import { loadFontMetrics } from "../../../platform/text/font-metrics.ts";
import { isRightToLeft, takeDrawable } from "./drawable-text.ts";

const metrics = loadFontMetrics();

test.each([
  ["Hello Ünïcode", "Hello Ünïcode"],
  ["e\u0301te\u0301", "été"],
  ["  a \n\n b\t\u0000c ", "a b c"],
  ["مرحبا", "مرحبا"],
  ["می\u200cخواهم", "می\u200cخواهم"],
  ["a\u202eb\u200bc\ufeff", "abc"],
  ["❤\ufe0f", "❤"],
])("%j is drawn as %j", (text, drawn) => {
  expect(takeDrawable(text, metrics)).toEqual({ text: drawn, undrawable: [] });
});

test("characters without a glyph are dropped and reported once, by grapheme", () => {
  expect(takeDrawable("Good 🦄 morning 🦄 to 👩‍🚀 you", metrics)).toEqual({
    text: "Good morning to you",
    undrawable: ["🦄", "👩‍🚀"],
  });
});

test("a text that is mostly undrawable is not drawn at all", () => {
  expect(takeDrawable("สวัสดี OK", metrics).text).toBe("");
  expect(takeDrawable("... 한국어 ...", metrics)).toEqual({ text: "", undrawable: ["한", "국", "어"] });
  expect(takeDrawable("… ?!", metrics).text).toBe("… ?!");
  expect(takeDrawable("", metrics)).toEqual({ text: "", undrawable: [] });
});

test("a combining mark without a glyph drops its letter instead of drawing a box", () => {
  expect(takeDrawable("abcdef\u1ab0", metrics)).toEqual({ text: "abcde", undrawable: ["f\u1ab0"] });
});

test("the first letter determines the direction", () => {
  expect(isRightToLeft("… 12 שלום hello")).toBe(true);
  expect(isRightToLeft("hello שלום")).toBe(false);
  expect(isRightToLeft("12:30")).toBe(false);
});
