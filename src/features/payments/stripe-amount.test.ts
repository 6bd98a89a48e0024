import { expect, test } from "vitest";
import { nano, parseMoney, presentMoney } from "../../lib/money.ts";
import { countPlaces, fromMinor, toMinor } from "./stripe-amount.ts";

const amounts = [
  { currency: "USD", text: "20.5", minor: 2050n, places: 2 },
  { currency: "USD", text: "0.01", minor: 1n, places: 2 },
  { currency: "USD", text: "0.001", minor: null, places: 2 },
  { currency: "JPY", text: "2000", minor: 2000n, places: 0 },
  { currency: "JPY", text: "2000.5", minor: null, places: 0 },
  // Zero-decimal, but Stripe counts it in hundredths.
  { currency: "ISK", text: "500", minor: 50_000n, places: 0 },
  { currency: "UGX", text: "0.5", minor: null, places: 0 },
  // Three decimals; Stripe requires the last digit to be zero.
  { currency: "KWD", text: "5.12", minor: 5120n, places: 2 },
  { currency: "KWD", text: "5.125", minor: null, places: 2 },
];

test("other providers may use every place that the currency has", () => {
  const minorOf = (text: string, currency: string) => toMinor(parseMoney(text) ?? nano(0n), currency, "external");
  expect(minorOf("5.125", "KWD")).toBe(5125n);
  expect(minorOf("5.1255", "KWD")).toBeNull();
  expect(minorOf("500", "JPY")).toBe(500n);
  expect(minorOf("0.5", "ISK")).toBeNull();
  expect(minorOf("0.5", "MGA")).toBeNull();
});

test.for(amounts)("$text $currency is $minor to Stripe", ({ currency, text, minor, places }) => {
  const amount = parseMoney(text);
  expect(amount).not.toBeNull();
  if (amount === null) return;
  expect(toMinor(amount, currency)).toBe(minor);
  expect(countPlaces(currency)).toBe(places);
  if (minor !== null) expect(presentMoney(fromMinor(minor, currency))).toBe(presentMoney(amount));
});
