import { expect, test } from "vitest";
import { describeMinimum, describePrice } from "./describe-price.ts";

test("tokens have a price for what goes in and what comes out, with every digit and the API's unit", () => {
  const entry = { unit: "1K tokens", input_price: "0.00015", output_price: "0.0006", cached_input_price: "0.000075" };
  expect(describePrice(entry, "USD")).toEqual([
    { name: "Input", text: "$0.00015 / 1K tokens" },
    { name: "Cached input", text: "$0.000075 / 1K tokens" },
    { name: "Output", text: "$0.0006 / 1K tokens" },
  ]);
});

test("a stage of a drama is named, and a model with one price needs no name for it", () => {
  expect(describePrice({ unit: "call", price: "0.10", capability: "role_analysis" }, "EUR")).toEqual([
    { name: "Roles", text: "€0.10 / call" },
  ]);
  expect(describePrice({ unit: "image", price: "0.02" }, "USD")).toEqual([{ name: null, text: "$0.02 / image" }]);
});

test("the least that a call costs is told where there is one", () => {
  expect(describeMinimum({ unit: "second", minimum_charge: "0.25" }, "USD")).toBe("at least $0.25");
  expect(describeMinimum({ unit: "second" }, "USD")).toBeNull();
});
