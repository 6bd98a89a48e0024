import { expect, test } from "vitest";
import { measureBars } from "./measure-bars.ts";

test("each bar's height is its loudness relative to the loudest", () => {
  const samples = Float32Array.from([0, 0, 0.5, -0.5, 0.25, -0.25]);
  expect(measureBars(samples, 3)).toEqual([0, 1, 0.5]);
});

test.each([
  ["a silent recording", new Float32Array(100)],
  ["one that is shorter than its bars", new Float32Array(1)],
  ["an empty one", new Float32Array(0)],
])("%s has flat bars", (_name, samples) => {
  expect(measureBars(samples, 4)).toEqual([0, 0, 0, 0]);
});
