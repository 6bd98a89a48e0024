import { expect, test } from "vitest";
import { resample } from "./resample.ts";

function createTone(rate: number, count: number): Int16Array {
  return Int16Array.from({ length: count }, (_, at) => 10_000 * Math.sin((2 * Math.PI * 440 * at) / rate));
}

test.each([
  [22_050, 24_000],
  [48_000, 24_000],
  [16_000, 44_100],
])("a tone at %i samples a second is the same tone at %i", (from, to) => {
  const found = resample(createTone(from, from / 10), from, to);
  const expected = createTone(to, to / 10);
  expect(found).toHaveLength(expected.length);
  // Samples at the edges have no neighbours.
  for (let at = 60; at < found.length - 60; at += 1) {
    expect(Math.abs((found[at] ?? 0) - (expected[at] ?? 0)), `sample ${at}`).toBeLessThan(150);
  }
});
