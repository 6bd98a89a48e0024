import { expect, test } from "vitest";
import { formatBytes } from "./format-bytes.ts";

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [999, "999 bytes"],
  [1_000, "1 kB"],
  [1_549_000, "1.5 MB"],
  [2_000_000_000_000, "2,000 GB"],
])("%i is %s", (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});
