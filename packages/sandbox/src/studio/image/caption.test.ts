import { expect, test } from "vitest";
import { loadFontMetrics } from "../../../../../src/providers/adapter-tools.ts";
import { createCanvas } from "../scenes/scene.ts";
import { drawCaption, wrapCaption } from "./caption.ts";

const metrics = loadFontMetrics();
const wrap = (text: string, widthMax = 20): string[] => wrapCaption(text, { widthMax, metrics });

test.each(["Hello Ünïcode", "Привет, мир", "Ελληνικά", "مرحبا بالعالم", "שלום", "你好世界", "こんにちは"])(
  "%s can be written",
  (text) => {
    expect(wrap(text)).toEqual([text]);
  },
);

test.each(["हिन्दी", "한국어", "ภาษาไทย", "🜨🜩🜪", "", "   ", "\u0000\u0001"])(
  "%j is omitted rather than drawn as boxes",
  (text) => {
    expect(wrap(text)).toEqual([]);
  },
);

test("single characters that no font has are omitted", () => {
  expect(wrap("A beautiful picture 🜨")).toEqual(["A beautiful picture"]);
});

test("lines break between words and fit the width", () => {
  const lines = wrap("The quick brown fox jumps over the lazy dog and runs away", 12);
  expect(lines).toHaveLength(3);
  const widthOf = (line: string): number => [...line].reduce((sum, sign) => sum + (metrics.findWidth(sign) ?? 0), 0);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(12.5);
  expect(lines.slice(0, 2).join(" ")).toMatch(/^The quick brown fox( jumps)?/);
});

test("a long text ends in an ellipsis after three lines", () => {
  const lines = wrap("word ".repeat(200), 12);
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toMatch(/…$/);
  expect(wrap("长".repeat(200), 12)).toHaveLength(3);
});

test("markup is text", () => {
  const svg = drawCaption('<script>&"', { canvas: createCanvas(800, 600), metrics, isOnLight: false });
  expect(svg).toContain("&lt;script&gt;&amp;");
});

test("a caption is dark on light and light on dark, and a tiny image has none", () => {
  const canvas = createCanvas(800, 600);
  expect(drawCaption("Hello", { canvas, metrics, isOnLight: true })).not.toContain("#ffffff");
  expect(drawCaption("Hello", { canvas, metrics, isOnLight: false })).toContain("#ffffff");
  expect(drawCaption("Hello", { canvas: createCanvas(64, 48), metrics, isOnLight: false })).toBe("");
});
