import { expect, test } from "vitest";
import { chooseScale } from "./chart-scale.ts";

const write = (highest: number): string[] => {
  const { ticks, digits } = chooseScale(highest);
  return ticks.map((tick) => tick.toFixed(digits));
};

test.for([
  [3, ["0", "1", "2", "3"]],
  [100, ["0", "25", "50", "75", "100"]],
  [0.0071, ["0.000", "0.002", "0.004", "0.006", "0.008"]],
  [0.3, ["0.0", "0.1", "0.2", "0.3"]],
  [38, ["0", "10", "20", "30", "40"]],
  [0, ["0", "1"]],
] as const)("up to %d the axis says %j", ([highest, ticks]) => {
  expect(write(highest)).toEqual(ticks);
});

test.for([
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [9, [0, 3, 6, 9]],
  [4000, [0, 1000, 2000, 3000, 4000]],
] as const)("up to %d calls the axis says %j", ([highest, ticks]) => {
  expect(chooseScale(highest, "whole").ticks).toEqual(ticks);
});

test("whatever is shown fits below the highest tick, and ticks differ", () => {
  for (let highest = 0.000_003; highest < 1e9; highest *= 1.37) {
    const { ticks } = chooseScale(highest);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest * (1 - 1e-9));
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(new Set(write(highest)).size).toBe(ticks.length);
  }
});
