import { expect, test } from "vitest";
import { countCurrencyPlaces, presentWithCurrency, roundToCurrency } from "./currency.ts";
import { nano } from "./money.ts";

test("amounts have the decimal places of their currency", () => {
  expect(["USD", "JPY", "KWD", "ISK"].map(countCurrencyPlaces)).toEqual([2, 0, 3, 0]);
  expect(presentWithCurrency(nano(1_234_567_500_000_000n), "USD")).toBe("1,234,567.50 USD");
  expect(presentWithCurrency(nano(1_500_000_000_000n), "JPY")).toBe("1,500 JPY");
  expect(presentWithCurrency(nano(1_500_000_000n), "KWD")).toBe("1.500 KWD");
  expect(presentWithCurrency(nano(-20_000_000_000n), "EUR")).toBe("-20.00 EUR");
});

test("amounts finer than the currency keep every digit", () => {
  expect(presentWithCurrency(nano(1_250_000n), "USD")).toBe("0.00125 USD");
  expect(presentWithCurrency(nano(-1n), "JPY")).toBe("-0.000000001 JPY");
});

test("half of the smallest amount is rounded away from zero", () => {
  expect(roundToCurrency(nano(5_000_000n), "USD")).toBe(10_000_000n);
  expect(roundToCurrency(nano(-5_000_000n), "USD")).toBe(-10_000_000n);
  expect(roundToCurrency(nano(4_999_999n), "USD")).toBe(0n);
  expect(roundToCurrency(nano(500_000_000n), "JPY")).toBe(1_000_000_000n);
  expect(roundToCurrency(nano(499_999n), "KWD")).toBe(0n);
});
