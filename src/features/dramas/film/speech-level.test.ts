import { expect, test } from "vitest";
import { createLevelMeter } from "./speech-level.ts";

/** A stereo tone, then as much silence. */
function makeNote(amplitude: number, seconds = 1): Int16Array {
  const count = 96_000 * seconds;
  return Int16Array.from({ length: 2 * count }, (_, index) =>
    index < count ? Math.round(amplitude * Math.sin(index / 20)) : 0,
  );
}

function chooseGain(samples: Int16Array): number {
  const meter = createLevelMeter();
  meter.add(samples.subarray(0, 50_000));
  meter.add(samples.subarray(50_000));
  return meter.chooseGain();
}

test("voices recorded at different levels come out at one level, ignoring pauses", () => {
  const levels = [2000, 6000, 12_000].map((amplitude) => amplitude * chooseGain(makeNote(amplitude)));
  for (const level of levels) expect(Math.abs(level - 32_768 * 0.1 * Math.SQRT2)).toBeLessThan(100);
});

test("near silence stays quiet, and nothing clips", () => {
  expect(chooseGain(makeNote(20))).toBe(1);
  expect(chooseGain(new Int16Array(0))).toBe(1);
  const peaky = makeNote(500);
  peaky[1000] = 30_000;
  expect(30_000 * chooseGain(peaky)).toBeLessThan(32_768 * 0.9);
});
