import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

/** WCAG contrast minimums: text on its background, and graphics against adjacent colours. */
const textContrastMin = 4.5;
const markContrastMin = 3;

const grounds = ["canvas", "surface", "sunken"];
const texts = ["ink", "ink-soft", "accent", "accent-strong", "danger", "success", "warning"];

/** Text on its own background. */
const pairs = [
  ["on-accent", "accent"],
  ["on-accent", "accent-strong"],
  ["on-danger", "danger"],
  ["accent", "accent-soft"],
  ["danger", "danger-soft"],
  ["success", "success-soft"],
  ["warning", "warning-soft"],
  ["canvas", "ink"],
  ...["code-keyword", "code-string", "code-number", "code-name"].map((word) => [word, "sunken"]),
  ...["ink", "ink-soft"].flatMap((text) =>
    ["accent-soft", "danger-soft", "success-soft", "warning-soft"].map((ground) => [text, ground]),
  ),
];

const stylesheet = readFileSync(join(import.meta.dirname, "site.css"), "utf8");

describe.each([
  ["light", 1],
  ["dark", 2],
] as const)("in the %s theme", (_theme, place) => {
  const colours = new Map(
    [...stylesheet.matchAll(/--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map((found) => [
      found[1] ?? "",
      found[place + 1] ?? "",
    ]),
  );
  const contrast = (one: string, other: string) => computeContrast(colours.get(one) ?? "", colours.get(other) ?? "");

  test("text is readable on every background", () => {
    const all = [...texts.flatMap((text) => grounds.map((ground) => [text, ground])), ...pairs];
    const faint = all.filter(([text = "", ground = ""]) => !(contrast(text, ground) >= textContrastMin));
    expect(faint).toEqual([]);
  });

  test("field borders and chart series are visible", () => {
    const marks = ["line-strong", ...[...colours.keys()].filter((name) => name.startsWith("series-"))];
    expect(marks.length).toBeGreaterThan(7);
    expect(marks.filter((mark) => !(contrast(mark, "surface") >= markContrastMin))).toEqual([]);
  });
});

function computeContrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [computeLuminance(one), computeLuminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function computeLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
