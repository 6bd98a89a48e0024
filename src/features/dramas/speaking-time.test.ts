import { expect, test } from "vitest";
import { estimateSpeakingSeconds, isSpeakable } from "./speaking-time.ts";

test.each([
  ["fourteen chars", 1.8],
  ["x".repeat(140), 10.8],
  ["灯塔的灯熄灭了吗", 8 / 4.5 + 0.8],
  ["灯 ok", 1 / 4.5 + 3 / 14 + 0.8],
  ["ひらカタ한글", 6 / 4.5 + 0.8],
  ["", 0.8],
])("%j takes about %d seconds to speak, with pauses", (text, seconds) => {
  expect(estimateSpeakingSeconds(text)).toBeCloseTo(seconds, 5);
});

test("a longer text never takes less time", () => {
  for (const text of ["The lamp", "灯塔", "مرحبا", "👋🏽"]) {
    expect(estimateSpeakingSeconds(`${text} ${text}`)).toBeGreaterThan(estimateSpeakingSeconds(text));
  }
});

test.each([
  ["Hello", true],
  ["7", true],
  ["灯", true],
  ["مرحبا", true],
  ["नमस्ते", true],
  ["👋🏽", false],
  ["…?!", false],
  ["  \n", false],
  ["", false],
])("%j is speakable: %s", (text, expected) => {
  expect(isSpeakable(text)).toBe(expected);
});
