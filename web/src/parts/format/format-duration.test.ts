import { expect, test } from "vitest";
import { formatDuration } from "./format-duration.ts";

test.each([
  [-5, "0 s"],
  [840, "0.8 s"],
  [9_960, "10 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [166_000, "2 min 46 s"],
  [3_600_000, "1 h"],
  [5_460_000, "1 h 31 min"],
])("%i ms is %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});
