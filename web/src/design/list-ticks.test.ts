import { expect, test } from "vitest";
import { listTicks } from "./list-ticks.ts";

const create = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index) }));

test("each of a month's days may have a label", () => {
  expect(listTicks(create(31))).toHaveLength(31);
});

test("a day's quarter hours have a label each hour, up to the last", () => {
  const ticks = listTicks(create(96)).map(Number);
  expect(ticks).toHaveLength(24);
  expect(ticks.at(-1)).toBe(95);
  expect(new Set(ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0)))).toEqual(new Set([4]));
});

test("no bars have no labels", () => {
  expect(listTicks([])).toEqual([]);
});
