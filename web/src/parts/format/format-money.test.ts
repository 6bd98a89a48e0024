import { expect, test } from "vitest";
import { formatCount, formatMoney, formatRoughMoney } from "./format-money.ts";

test.each([
  ["20", "USD", "$20.00"],
  ["0.00045", "USD", "$0.00045"],
  ["-12.5", "EUR", "-€12.50"],
  ["9007199254740993.000000001", "USD", "$9,007,199,254,740,993.000000001"],
  ["300", "JPY", "¥300"],
])("%s %s is shown as %s, with every digit", (amount, currency, shown) => {
  expect(formatMoney(amount, currency)).toBe(shown);
});

test.each([
  ["79.83999", "USD", "$79.83"],
  ["0", "USD", "$0.00"],
  ["0.00999", "USD", "$0.00999"],
  ["0.000123456", "USD", "$0.0001234"],
  ["0.5", "USD", "$0.50"],
  ["-0.001", "EUR", "-€0.001"],
  ["0.02", "USD", "$0.02"],
  ["0.5", "JPY", "¥0.5"],
  ["9007199254740993.129", "USD", "$9,007,199,254,740,993.12"],
])("%s %s is rounded down to %s", (amount, currency, shown) => {
  expect(formatRoughMoney(amount, currency)).toBe(shown);
});

test("large counts have separators", () => {
  expect(formatCount(1_234_567)).toBe("1,234,567");
});
