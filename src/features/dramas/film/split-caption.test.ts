import { expect, test } from "vitest";
import { loadFontMetrics } from "../../../platform/text/font-metrics.ts";
import { splitCaption } from "./split-caption.ts";
import { joinAtoms, measureAtoms, splitAtoms, wrapAtoms } from "./wrap-text.ts";

const metrics = loadFontMetrics();
const split = (text: string, widthMax = 20): string[] => splitCaption(text, { widthMax, metrics });
const wrap = (text: string, widthMax = 20): string[] =>
  wrapAtoms(splitAtoms(text, metrics, widthMax), widthMax).map(joinAtoms);

test("a short text is one caption", () => {
  expect(split("Hello there.")).toEqual(["Hello there."]);
  expect(wrap("Hello there.")).toEqual(["Hello there."]);
});

test.each([
  ["words", "The tide came in, and nobody had told them. ".repeat(20).trim(), " "],
  ["characters without spaces", "今夜的风很大，海浪拍打着岩石。我们必须等到天亮才能离开这里。".repeat(10), ""],
  ["one word", "x".repeat(900), ""],
  ["right to left", "لقد انتظرتك طويلا في هذا المكان البعيد، ".repeat(12).trim(), " "],
])("a long text of %s is split into captions of at most two lines, without loss", (_, text, glue) => {
  const parts = split(text);
  expect(parts.length).toBeGreaterThan(4);
  expect(parts.join(glue)).toBe(text);
  for (const part of parts) {
    const lines = wrapAtoms(splitAtoms(part, metrics, 20), 20);
    expect(lines.length).toBeLessThanOrEqual(2);
    for (const line of lines) expect(measureAtoms(line)).toBeLessThanOrEqual(20);
  }
});

test("captions and lines end with sentences and clauses where possible", () => {
  const text =
    "I saw your light from the other side of the bay. I rowed towards it all night long, through fog and rain.";
  expect(split(text)[0]).toBe("I saw your light from the other side of the bay.");
  expect(wrap("Is anybody out there? The lamp is burning.")).toEqual(["Is anybody out there?", "The lamp is burning."]);
  expect(wrap("今夜的风很大，海浪拍打着岩石不停地响。", 16)[0]).toBe("今夜的风很大，");
});

test("two lines are balanced instead of one full line and one word", () => {
  const [upper = "", lower = ""] = wrap("the quick brown fox jumps over the lazy dog");
  expect(Math.abs(upper.length - lower.length)).toBeLessThan(8);
});

test("no line starts with a closing or ends with an opening character", () => {
  for (let width = 3; width < 12; width += 1) {
    for (const line of wrap("他说：「你好，世界！」然后离开了（真的）。", width)) {
      expect(line).not.toMatch(/^[，。！」）：]/u);
      expect(line).not.toMatch(/[「（]$/u);
    }
  }
});
