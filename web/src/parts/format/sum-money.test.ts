import { expect, test } from "vitest";
import { compareMoney, isMoneyZero, sumMoney } from "./sum-money.ts";

test.for([
  [["0.1", "0.2"], "0.30"],
  [["9007199254740993.000000001", "0.000000000001"], "9007199254740993.000000001001"],
  [["5.00", "-7.25"], "-2.25"],
  [["-0.5", "0.25"], "-0.25"],
  [[], "0.00"],
  [["20"], "20.00"],
] as const)("%j sum to %s exactly", ([amounts, total]) => {
  expect(sumMoney(amounts)).toBe(total);
});

test("amounts are compared by value, not by notation", () => {
  expect(compareMoney("10.00", "9.5")).toBe(1);
  expect(compareMoney("-1", "0.00")).toBe(-1);
  expect(compareMoney("1.50", "1.5")).toBe(0);
  expect(isMoneyZero("0.000")).toBe(true);
  expect(isMoneyZero("0.000000001")).toBe(false);
});
