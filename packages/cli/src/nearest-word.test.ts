import { expect, test } from "vitest";
import { findNearest } from "./nearest-word.ts";

const known = ["login", "logout", "models", "image", "tasks", "tasks cancel", "tasks show"];

test.each([
  ["imgae", "image"],
  ["model", "models"],
  ["lgoin", "login"],
  ["logn", "login"],
  ["mod", "models"],
  ["tasks cancle", "tasks cancel"],
  ["log", "login"],
  ["frobnicate", null],
  ["x", null],
  ["", null],
])("%j is near %j", (typed, nearest) => {
  expect(findNearest(typed, known)).toBe(nearest);
});
