import { expect, test } from "vitest";
import { describePassword } from "./describe-password.ts";

test.for([
  ["", /^At least 8 characters/],
  ["abcdefg", /^1 more character needed/],
  ["abc", /^5 more characters needed/],
  ["😀😀😀😀😀😀😀", /^1 more character needed/],
  ["aaaaaaaaaaaaaaaaaaaa", /easy to guess/],
  ["abcdefgh", /^Long enough\. With 15/],
  ["abcdefghijklmn", /^Long enough\. With 15/],
  ["abcdefghijklmno", /^A good length/],
] as const)("the hint for %j depends on what is visible", ([password, words]) => {
  expect(describePassword(password)).toMatch(words);
});
