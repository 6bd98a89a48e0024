import { expect, test } from "vitest";
import {
  boundWeight,
  type QuotaWeights,
  readQuotaWeights,
  weighItems,
  weighTokens,
  writeQuotaWeights,
} from "./quota-weights.ts";

function read(models: Record<string, string>, kinds: Record<string, string>): QuotaWeights {
  const weights = readQuotaWeights({ models, kinds });
  if (weights === null) throw new Error("invalid weights");
  return weights;
}

test("tokens weigh by model and kind, rounded up once", () => {
  const weights = read({ large: "10", "*": "0.5" }, { cached: "0.1", output: "4" });
  const tokens = { input: 100, cached: 1000, output: 10 };
  expect(weighTokens(weights, "large", tokens)).toBe(2400n);
  expect(weighTokens(weights, "small", tokens)).toBe(120n);
  expect(weighTokens(weights, "small", { input: 0, cached: 1, output: 0 })).toBe(1n);
  expect(weighTokens(read({}, {}), "any", tokens)).toBe(1110n);
});

test("no usage weighs more than the bound of its call", () => {
  for (const cached of ["0.1", "1", "2.5"]) {
    const weights = read({ m: "1.7" }, { cached, output: "3.3333" });
    for (const share of [0, 1, 500, 1000]) {
      const used = { input: 1000 - share, cached: share, output: 77 };
      expect(weighTokens(weights, "m", used)).toBeLessThanOrEqual(
        boundWeight(weights, "m", { input: 1000, output: 77 }),
      );
    }
  }
});

test("a bill is weighed by its items, and other units as input", () => {
  const weights = read({ m: "2" }, { cached: "0.5", output: "4" });
  const items = [
    { name: "counted_input_tokens", quantity: 10n },
    { name: "cached_input_tokens", quantity: 10n },
    { name: "audio_input_tokens", quantity: 5n },
    { name: "output_tokens", quantity: 1n },
    { name: "reasoning_tokens", quantity: 1n },
  ];
  expect(weighItems(weights, "m", { items, quotaUnits: 27n })).toBe(56n);
  expect(weighItems(weights, "m", { items: [{ name: "seconds", quantity: 3n }], quotaUnits: 30n })).toBe(60n);
});

test("weights are decimals above 0, and read as they were written", () => {
  const written = { models: { m: "0.25", "*": "12" }, kinds: { output: "4.5" } };
  expect(writeQuotaWeights(read(written.models, written.kinds))).toEqual(written);
  for (const wrong of ["0", "-1", "1000", "0.00001", "x", ""]) {
    expect(readQuotaWeights({ models: { m: wrong }, kinds: {} })).toBeNull();
    expect(readQuotaWeights({ models: {}, kinds: { output: wrong } })).toBeNull();
  }
});
