import { expect, test } from "vitest";
import { computeContrast, deriveAccent, findReadable, parseHex } from "./brand-accent.ts";

test("contrast follows WCAG", () => {
  expect(computeContrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 5);
  expect(computeContrast(parseHex("#777777"), [255, 255, 255])).toBeCloseTo(4.48, 2);
});

test.each(["light", "dark"] as const)(
  "an unreadable colour is rejected in the %s theme, and the nearest readable one is accepted",
  (theme) => {
    const grey = "#808080";
    expect(deriveAccent(grey, theme)).toBeNull();
    for (const hex of [grey, "#ffdd00", "#7c3aed", "#000000", "#ffffff", "#22c55e"]) {
      const readable = findReadable(hex, theme);
      const derived = deriveAccent(readable, theme);
      expect(derived).not.toBeNull();
      if (derived === null) continue;
      for (const ground of [derived.soft, derived.onAccent]) {
        expect(computeContrast(parseHex(derived.accent), parseHex(ground))).toBeGreaterThanOrEqual(4.5);
      }
      expect(computeContrast(parseHex(derived.strong), parseHex(derived.onAccent))).toBeGreaterThanOrEqual(4.5);
    }
  },
);

test("a readable colour is unchanged", () => {
  expect(findReadable("#6d28d9", "light")).toBe("#6d28d9");
  expect(deriveAccent("#6d28d9", "light")?.onAccent).toBe("#ffffff");
});
