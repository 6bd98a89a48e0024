import { expect, test } from "vitest";
import { loadFontMetrics } from "../../../platform/text/font-metrics.ts";
import { chooseCaptionStyle, placeStrip, planCues } from "./plan-captions.ts";

const metrics = loadFontMetrics();
const style = chooseCaptionStyle({ width: 1280, height: 720 });
const line = { speaker: "Ana", text: "Hello.", startFrame: 10, endFrame: 110 };

test.each([
  [1280, 720],
  [720, 1280],
  [960, 960],
  [160, 90],
  [90, 160],
  [160, 68],
])("captions of a %i × %i frame are within it, at even positions, above its edge", (width, height) => {
  const own = chooseCaptionStyle({ width, height });
  const strip = placeStrip({ width, height }, own);
  expect(Object.values(strip).every((value) => value % 2 === 0 && value >= 0)).toBe(true);
  expect(strip.left + strip.width).toBeLessThanOrEqual(width);
  expect(strip.top + strip.height).toBeLessThan(height);
  expect(strip.top).toBeGreaterThan(height * 0.35);
  expect(own.widthMax).toBeGreaterThan(8);
});

test("a long line is split into captions with proportional times", () => {
  const text = "One two three four five six seven eight nine ten. ".repeat(8).trim();
  const cues = planCues({ ...line, text }, style, metrics);
  expect(cues.length).toBeGreaterThan(3);
  expect(cues[0]?.startFrame).toBe(10);
  expect(cues.at(-1)?.endFrame).toBe(110);
  for (const [index, cue] of cues.entries()) {
    expect(cue.endFrame).toBe(cues[index + 1]?.startFrame ?? 110);
    const share = (cue.endFrame - cue.startFrame) / 100 / (cue.text.length / text.length);
    expect(share).toBeGreaterThan(0.8);
    expect(share).toBeLessThan(1.25);
    expect(cue.lines.length).toBeLessThanOrEqual(2);
  }
});

test("a line too short in frames for its captions is one cue with the whole text", () => {
  const text = "word ".repeat(300).trim();
  const cues = planCues({ ...line, text, endFrame: 12 }, style, metrics);
  expect(cues).toHaveLength(1);
  expect(cues[0]).toMatchObject({ text, startFrame: 10, endFrame: 12 });
  expect(cues[0]?.lines).toHaveLength(2);
});

test("a name longer than a line is truncated with an ellipsis", () => {
  const [cue] = planCues({ ...line, speaker: "Maximiliane von und zu ".repeat(4) }, style, metrics);
  expect(cue?.name).toMatch(/^Maximiliane.*…$/);
  expect(planCues({ ...line, speaker: null }, style, metrics)[0]?.name).toBe("");
});
