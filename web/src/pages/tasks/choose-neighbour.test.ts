import { expect, test } from "vitest";
import { chooseNeighbour } from "./choose-neighbour.ts";

const columns = 4;
const count = 10;

test.each([
  ["ArrowRight", 0, 1],
  ["ArrowRight", 3, 4],
  ["ArrowRight", 9, 9],
  ["ArrowLeft", 4, 3],
  ["ArrowLeft", 0, 0],
  ["ArrowDown", 1, 5],
  ["ArrowDown", 7, 9],
  ["ArrowUp", 5, 1],
  ["ArrowUp", 2, 2],
  ["PageDown", 0, 9],
  ["PageUp", 9, 1],
  ["Home", 7, 0],
  ["End", 2, 9],
  ["a", 2, null],
] as const)("%s at %i leads to %j", (key, index, next) => {
  expect(chooseNeighbour(key, { index, columns, count })).toBe(next);
});
