import { expect, test } from "vitest";
import { measureShare } from "./measure-share.ts";

test.each([
  ["0.00", "25.00", 0],
  ["3.20", "25.00", 12],
  ["0.000000001", "0.000000002", 50],
  ["24.999999999", "25", 99],
  ["25", "25.00", 100],
  ["900000000.00", "0.01", 100],
  ["1", "0.00", 100],
])("%s of %s is %d percent", (part, whole, percent) => {
  expect(measureShare(part, whole)).toBe(percent);
});
