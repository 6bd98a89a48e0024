import { expect, test } from "vitest";
import { describePassword } from "./describe-password.ts";

test.for([
  ["", /^Use at least 8 characters/],
  ["abcdefg", /^1 more character needed/],
  ["abc", /^5 more characters needed/],
  ["😀😀😀😀😀😀😀", /^1 more character needed/],
  ["aaaaaaaaaaaaaaaaaaaa", /^Too repetitive/],
  ["abcdefgh", /^Long enough\. 15 characters/],
  ["abcdefghijklmn", /^Long enough\. 15 characters/],
  ["abcdefghijklmno", /^Good length/],
] as const)("the hint for %j depends on what is visible", ([password, words]) => {
  expect(describePassword(password)).toMatch(words);
});
