import { expect, test } from "vitest";
import { formatAmount, formatChange } from "./format-amount.ts";

test.for([
  ["money", "-12.5", "−$12.50"],
  ["money", "0.000000000123", "$0.000000000123"],
  ["text", "1200", "1,200 tokens"],
  ["image", "1", "1 image"],
  ["video", "-1", "−1 second"],
] as const)("%s %s is written as %s", ([unit, amount, text]) => {
  expect(formatAmount({ unit, amount, currency: "USD" })).toBe(text);
});

test("credits have a sign as well as debits", () => {
  expect(formatChange({ unit: "money", amount: "20.00", currency: "USD" })).toBe("+$20.00");
  expect(formatChange({ unit: "text", amount: "-5", currency: "USD" })).toBe("−5 tokens");
});
