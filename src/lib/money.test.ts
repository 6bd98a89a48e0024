import fc from "fast-check";
import { expect, test } from "vitest";
import { nano, parseMoney, presentMoney } from "./money.ts";

test.each([
  ["12.5", 12_500_000_000n, "12.50"],
  ["0", 0n, "0.00"],
  ["0.000125", 125_000n, "0.000125"],
  ["0.000000001", 1n, "0.000000001"],
  ["999999999.999999999", 999_999_999_999_999_999n, "999999999.999999999"],
  ["007", 7_000_000_000n, "7.00"],
])("%s is exactly %d billionths, shown as %s", (text, amount, shown) => {
  expect(parseMoney(text)).toBe(amount);
  expect(presentMoney(nano(amount))).toBe(shown);
});

test.each(["", "-1", "+1", "1e3", ".5", "1.", "1,5", " 1", "0x10", "0.0000000001", "1234567890", "NaN", "١"])(
  "%j is not an amount",
  (text) => {
    expect(parseMoney(text)).toBeNull();
  },
);

test("a formatted amount parses back to the same amount", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), (amount) => {
      expect(parseMoney(presentMoney(nano(amount)))).toBe(amount);
    }),
  );
});

test("a negative amount keeps its sign", () => {
  expect(presentMoney(nano(-1_500_000_000n))).toBe("-1.50");
});
