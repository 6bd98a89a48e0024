import { expect, test } from "vitest";
import { chooseBedGain, chooseSpeechGain } from "./sound-envelope.ts";

const decibels = (gain: number): number => 20 * Math.log10(gain);

test("a clip's own sound is 18 dB lower, and ducked by 8 dB more under a voice", () => {
  const speech = [
    { start: 2, end: 3 },
    { start: 4, end: 5 },
  ];
  expect(decibels(chooseBedGain(1, 8, speech))).toBeCloseTo(-18);
  expect(decibels(chooseBedGain(2, 8, speech))).toBeCloseTo(-26);
  expect(decibels(chooseBedGain(2.5, 8, speech))).toBeCloseTo(-26);
  expect(decibels(chooseBedGain(4.5, 8, speech))).toBeCloseTo(-26);
  expect(decibels(chooseBedGain(3.5, 8, speech))).toBeCloseTo(-18);
  const halfway = decibels(chooseBedGain(1.925, 8, speech));
  expect(halfway).toBeLessThan(-19);
  expect(halfway).toBeGreaterThan(-25);
});

test("every sound starts and ends with silence, so that cuts do not click", () => {
  expect(chooseBedGain(0, 8, [])).toBe(0);
  expect(chooseBedGain(8, 8, [])).toBe(0);
  expect(chooseSpeechGain(2, { start: 2, end: 3 })).toBe(0);
  expect(chooseSpeechGain(3, { start: 2, end: 3 })).toBe(0);
  expect(chooseSpeechGain(2.5, { start: 2, end: 3 })).toBe(1);
});
