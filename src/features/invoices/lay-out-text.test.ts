import { expect, test } from "vitest";
import { layOutText, type Typeface } from "./lay-out-text.ts";

/** Every character is one wide; Hebrew has a font of its own. */
const typeface: Typeface<string> = {
  choose: (cluster) => (/[\u0590-\u05ff]/.test(cluster) ? "hebrew" : "latin"),
  measure: (text) => text.length,
};

const linesOf = (text: string, width = 100): string[] =>
  layOutText(text, width, typeface).map(({ pieces }) => pieces.map((piece) => piece.text).join(""));

test("lines break between words, and inside a word that is too long", () => {
  expect(linesOf("one two three", 8)).toEqual(["one two", "three"]);
  expect(linesOf("abcdefghij k", 4)).toEqual(["abcd", "efgh", "ij k"]);
  expect(linesOf("first\nsecond")).toEqual(["first", "second"]);
});

test("Chinese breaks between any two characters", () => {
  expect(linesOf("北京示例科技", 4)).toEqual(["北京示例", "科技"]);
});

test("a line changes its font where the script changes", () => {
  expect(layOutText("ab אב cd", 100, typeface)[0]?.pieces).toEqual([
    { text: "ab ", font: "latin" },
    { text: "אב", font: "hebrew" },
    { text: " ", font: "latin" },
    { text: "cd", font: "latin" },
  ]);
});

test("words of right-to-left scripts are drawn from the right, with numbers between them in place", () => {
  // The space after a word is drawn at its left.
  expect(layOutText("אא בב", 100, typeface)[0]?.pieces).toEqual([
    { text: "בב", font: "hebrew" },
    { text: "אא ", font: "hebrew" },
  ]);
  expect(linesOf("Tel: אא 12, בב end")).toEqual(["Tel: בב 12,אא  end"]);
});
