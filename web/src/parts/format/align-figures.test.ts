import { expect, test } from "vitest";
import { countDecimals, writePadding } from "./align-figures.ts";
import { formatRoughMoney } from "./format-money.ts";

test.each([
  [
    "USD",
    ["0", "-12.5", "0.000123456", "9007199254740993.129"],
    ["$0.00", "-$12.50", "$0.0001234", "$9,007,199,254,740,993.12"],
  ],
  ["JPY", ["0", "-300", "0.5", "1234567"], ["¥0", "-¥300", "¥0.5", "¥1,234,567"]],
])("the decimal points of a column in %s are below each other", (currency, amounts, shown) => {
  const figures = amounts.map((amount) => formatRoughMoney(amount, currency));
  expect(figures).toEqual(shown);
  const decimals = countDecimals(figures);
  const places = figures.map((figure) => {
    const padded = figure + writePadding(figure, decimals);
    return padded.length - padded.lastIndexOf(".");
  });
  expect(new Set(places)).toEqual(new Set([decimals + 1]));
});

test("figures without decimals, and none at all, need no padding", () => {
  expect(countDecimals([])).toBe(0);
  expect(countDecimals(["¥300", "¥1,000"])).toBe(0);
  expect(writePadding("¥300", 0)).toBe("");
});

test("a quota beside money is not padded", () => {
  expect(countDecimals(["3 images", "−$0.000000001"])).toBe(9);
  expect(writePadding("3 images", 9)).toBe("");
  expect(writePadding("+$5.00", 9)).toBe("0000000");
});
