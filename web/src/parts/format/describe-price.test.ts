import { expect, test } from "vitest";
import { describeMinimum, describePrice } from "./describe-price.ts";

test("tokens have input and output prices per million, with every digit", () => {
  const entry = { unit: "1K tokens", input_price: "0.00015", output_price: "0.0006", cached_input_price: "0.000075" };
  expect(describePrice(entry, "USD")).toEqual([
    { name: "Input", text: "$0.15 / 1M tokens" },
    { name: "Cached input", text: "$0.075 / 1M tokens" },
    { name: "Output", text: "$0.60 / 1M tokens" },
  ]);
  expect(describePrice({ unit: "1K tokens", input_price: "12", output_price: "0.0000000015" }, "USD")).toEqual([
    { name: "Input", text: "$12,000.00 / 1M tokens" },
    { name: "Output", text: "$0.0000015 / 1M tokens" },
  ]);
});

test("tokens with their own price are listed separately", () => {
  const own = { cache_write_5m_price: "1.25", cache_write_1h_price: "2.00", reasoning_price: "4.00" };
  const entry = { unit: "1K tokens", input_price: "1.00", output_price: "3.00", ...own, audio_input_price: "5.00" };
  expect(describePrice({ ...entry, audio_output_price: "6.00" }, "USD").map(({ name }) => name)).toEqual([
    ...["Input", "Cache write, 5 minutes", "Cache write, 1 hour", "Audio input"],
    ...["Output", "Reasoning", "Audio output"],
  ]);
});

test("a drama stage is named, and a single price needs no name", () => {
  expect(describePrice({ unit: "call", price: "0.10", capability: "role_analysis" }, "EUR")).toEqual([
    { name: "Roles", text: "€0.10 / call" },
  ]);
  expect(describePrice({ unit: "image", price: "0.02" }, "USD")).toEqual([{ name: null, text: "$0.02 / image" }]);
});

test("the minimum charge is shown if there is one", () => {
  expect(describeMinimum({ unit: "second", minimum_charge: "0.25" }, "USD")).toBe("at least $0.25");
  expect(describeMinimum({ unit: "second" }, "USD")).toBeNull();
});

test("rates with conditions are named by them, and the highest is not listed twice", () => {
  const items = [
    { item: "second", resolution: "720p", audio: true, price: "0.10" },
    { item: "second", duration: 8, price: "0.20" },
    { item: "second", price: "0.05" },
    { item: "input_image", price: "0.01" },
  ];
  expect(describePrice({ unit: "second", price: "0.20", items, multiplier: "0.8" }, "USD")).toEqual([
    { name: "720p, with sound", text: "$0.10 / second" },
    { name: "8 s", text: "$0.20 / second" },
    { name: "Otherwise", text: "$0.05 / second" },
    { name: "Input image", text: "$0.01 / input image" },
    { name: "Your factor", text: "× 0.8, included" },
  ]);
});

test("rates of long inputs are per million tokens, and service tiers are factors", () => {
  const entry = { unit: "1K tokens", input_price: "0.003", output_price: "0.015", service_tiers: { flex: "0.5" } };
  const items = [{ item: "output", above_input_tokens: 200_000, price: "0.0225" }];
  expect(describePrice({ ...entry, items }, "USD").slice(2)).toEqual([
    { name: "Output above 200,000 input tokens", text: "$22.50 / 1M tokens" },
    { name: "Service tier flex", text: "× 0.5" },
  ]);
});
