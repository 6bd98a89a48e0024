import fc from "fast-check";
import { expect, test } from "vitest";
import { countRuns } from "../../../test/harness/count-runs.ts";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import {
  compilePricing,
  computeModelCharge,
  createRandom,
  createTokenCase,
  createTokenPricing,
} from "../../../test/harness/price-model.ts";
import { testSeed } from "../../../test/harness/test-seed.ts";
import { computeCacheSaving, computeCharge } from "../../lib/bill.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Price } from "../catalog/index.ts";
import {
  billChat,
  boundCost,
  countAffordableTokens,
  createUsage,
  isChargeable,
  limitToRequested,
  plainKinds,
  priceOutput,
  priceUsage,
} from "./quote-chat.ts";

function createTokenPrice(input: bigint, output: bigint, cached: bigint | null = null, minimum = 0n): Price {
  return createTestPrice({ rates: { input, output, cached_input: cached }, minimum });
}

/** The most that a request with this much input and output can cost. */
function priceTokens(price: Price, { input, output }: { input: number; output: number }, kinds = plainKinds): Nano {
  return priceOutput(price, boundCost(price, { input, kinds }), output);
}

function countAffordable(price: Price, amount: Nano, input: number, kinds = plainKinds): number {
  return countAffordableTokens(price, boundCost(price, { input, kinds }), amount);
}

/** Input 1.00, cached 0.50, output 2.00. */
const usual = createTokenPrice(1_000_000_000n, 2_000_000_000n, 500_000_000n);
const perCall = createTestPrice({ unit: "call", rates: { call: 250_000_000n } });

test("a bill has input, cached input and output, each at its own price", () => {
  const usage = { ...createUsage(100, 20), cachedInputTokens: 40, reasoningTokens: 5, isCounted: false };
  const bill = billChat(usual, usage);
  expect(bill).toEqual({
    priceId: "price_1",
    minimum: 0n,
    per: 1000n,
    quotaUnits: 120n,
    items: [
      { name: "input_tokens", quantity: 60n, rate: 1_000_000_000n },
      { name: "cached_input_tokens", quantity: 40n, rate: 500_000_000n },
      { name: "output_tokens", quantity: 20n, rate: 2_000_000_000n },
    ],
  });
  expect(computeCharge(bill)).toBe(60_000_000n + 20_000_000n + 40_000_000n);
});

test("our own count is marked, and cached input without its own price costs as much as other input", () => {
  const counted = billChat(usual, createUsage(3, 4));
  expect(counted.items.map(({ name }) => name)).toEqual([
    "counted_input_tokens",
    "cached_input_tokens",
    "counted_output_tokens",
  ]);
  const bill = billChat(createTokenPrice(7n, 0n), { ...createUsage(1000, 0), cachedInputTokens: 400 });
  expect(computeCharge(bill)).toBe(7n);
});

test("cache writes, audio and reasoning have their own lines and are in no other", () => {
  const price = createTestPrice({
    rates: {
      ...{ input: 1000n, cached_input: 100n, cache_write_5m: 1250n, cache_write_1h: 2000n, input_audio: 8000n },
      ...{ output: 5000n, reasoning: 6000n, output_audio: 9000n },
    },
  });
  const usage = {
    ...{ ...createUsage(1000, 100), cachedInputTokens: 400, cacheWriteTokens: 300, cacheWrite1hTokens: 100 },
    ...{ inputAudioTokens: 50, reasoningTokens: 30, outputAudioTokens: 20, isCounted: false },
  };
  const bill = billChat(price, usage);
  expect(bill.items).toEqual([
    { name: "input_tokens", quantity: 250n, rate: 1000n },
    { name: "cached_input_tokens", quantity: 400n, rate: 100n },
    { name: "cache_write_5m_tokens", quantity: 200n, rate: 1250n },
    { name: "cache_write_1h_tokens", quantity: 100n, rate: 2000n },
    { name: "audio_input_tokens", quantity: 50n, rate: 8000n },
    { name: "output_tokens", quantity: 50n, rate: 5000n },
    { name: "reasoning_tokens", quantity: 30n, rate: 6000n },
    { name: "audio_output_tokens", quantity: 20n, rate: 9000n },
  ]);
  expect(computeCharge(bill)).toBe(250n + 40n + 250n + 200n + 400n + 250n + 180n + 180n);
  // Without the cache each of the 400 would have cost 900 more.
  expect(computeCacheSaving(bill)).toBe(360n);
});

test("audio and reasoning without their own price count as plain tokens; cache writes have a line anyway", () => {
  const usage = {
    ...{ ...createUsage(100, 20), cacheWriteTokens: 30, cacheWrite1hTokens: 10, inputAudioTokens: 40 },
    ...{ reasoningTokens: 5, outputAudioTokens: 5 },
  };
  expect(billChat(usual, usage).items.map(({ name, quantity }) => [name, quantity])).toEqual([
    ["counted_input_tokens", 70n],
    ["cached_input_tokens", 0n],
    ["cache_write_5m_tokens", 20n],
    ["cache_write_1h_tokens", 10n],
    ["counted_output_tokens", 20n],
  ]);
  expect(priceUsage(usual, usage)).toBe(priceUsage(usual, createUsage(100, 20)));
});

test("token types that were not requested are charged as plain ones", () => {
  const told = { ...createUsage(100, 20), cacheWriteTokens: 30, cacheWrite1hTokens: 10 };
  const heard = { ...told, inputAudioTokens: 40, outputAudioTokens: 7 };
  expect(limitToRequested(heard, plainKinds)).toEqual({ ...told, cacheWrite1hTokens: 0 });
  expect(limitToRequested(heard, { hourWrites: true, audioInput: true, audioOutput: true })).toEqual(heard);
});

test.each([
  ["more was read and written than came in", { cachedInputTokens: 60, cacheWriteTokens: 41 }],
  ["more is kept for an hour than was written", { cacheWriteTokens: 10, cacheWrite1hTokens: 11 }],
  ["more was thought than came out", { reasoningTokens: 21 }],
  ["a count is negative", { cacheWriteTokens: -1 }],
])("a report is rejected if %s", (_name, fields) => {
  expect(isChargeable(usual, { ...createUsage(100, 20), ...fields })).toBe(false);
});

test("a price per call charges one call, and its quota still counts tokens", () => {
  const bill = billChat(perCall, { ...createUsage(100, 20), isCounted: false });
  expect(bill).toMatchObject({ per: 1n, items: [{ name: "calls", quantity: 1n }], quotaUnits: 120n });
  expect(priceTokens(perCall, { input: 0, output: 0 })).toBe(250_000_000n);
  expect(priceTokens(perCall, { input: 1_000_000, output: 1_000_000 })).toBe(250_000_000n);
});

test("a charge is at least the minimum, and the minimum is not added on top", () => {
  const price = createTokenPrice(1_000_000_000n, 2_000_000_000n, null, 50_000_000n);
  expect(priceTokens(price, { input: 1, output: 1 })).toBe(50_000_000n);
  expect(priceTokens(price, { input: 50, output: 1 })).toBe(52_000_000n);
});

test.each([
  ["nothing costs anything", createTokenPrice(0n, 0n), true],
  ["nothing costs anything, cached or not", createTokenPrice(0n, 0n, 0n), true],
  ["a call costs nothing", createTestPrice({ unit: "call", rates: { call: 0n } }), true],
  ["only input costs", createTokenPrice(1n, 0n), false],
  ["only output costs", createTokenPrice(0n, 1n), false],
  ["only cached input costs", createTokenPrice(0n, 0n, 1n), false],
  ["only an hour in a cache costs", createTestPrice({ rates: { cache_write_1h: 1n } }), false],
  ["only thoughts cost", createTestPrice({ rates: { reasoning: 1n } }), false],
  ["only the minimum costs", createTokenPrice(0n, 0n, null, 1n), false],
  ["a call costs", perCall, false],
])("a price is free only if nothing can cost anything: %s", (_name, price, expected) => {
  expect(price.isFree).toBe(expected);
});

const tokens = fc.nat(2_000_000);
const rate = fc.bigInt({ min: 0n, max: 100_000_000_000n });
const anyPrice = fc
  .record({ input: rate, output: rate, minimum: fc.bigInt({ min: 0n, max: 1_000_000_000n }) })
  .map(({ input, output, minimum }) => createTokenPrice(input, output, null, minimum));

test("more of anything never costs less", () => {
  fc.assert(
    fc.property(anyPrice, tokens, tokens, tokens, (price, input, output, more) => {
      const cost = priceTokens(price, { input, output });
      expect(priceTokens(price, { input: input + more, output }) >= cost).toBe(true);
      expect(priceTokens(price, { input, output: output + more }) >= cost).toBe(true);
    }),
  );
});

test("input and output together cost their sum, up to rounding of one nano unit", () => {
  fc.assert(
    fc.property(rate, rate, tokens, tokens, (inputRate, outputRate, input, output) => {
      const price = createTokenPrice(inputRate, outputRate);
      const together = priceTokens(price, { input, output });
      const apart = priceTokens(price, { input, output: 0 }) + priceTokens(price, { input: 0, output });
      expect(apart - together >= -1n && apart - together <= 1n).toBe(true);
    }),
  );
});

test("cached input never costs more than uncached, if its price is lower", () => {
  fc.assert(
    fc.property(tokens, tokens, fc.double({ min: 0, max: 1, noNaN: true }), (input, output, share) => {
      const usage = { ...createUsage(input, output), cachedInputTokens: Math.floor(input * share) };
      expect(computeCharge(billChat(usual, usage)) <= computeCharge(billChat(usual, createUsage(input, output)))).toBe(
        true,
      );
    }),
  );
});

const amount = fc.bigInt({ min: 0n, max: 10_000_000_000_000n }).map(nano);

test("an amount pays for exactly the affordable tokens, if a token costs whole nano units", () => {
  const wholeRate = fc.bigInt({ min: 1n, max: 100_000_000n }).map((perToken) => perToken * 1000n);
  fc.assert(
    fc.property(wholeRate, wholeRate, fc.nat(10_000), amount, (inputRate, outputRate, input, money) => {
      const price = createTokenPrice(inputRate, outputRate);
      const output = countAffordable(price, money, input);
      const pays = (count: number): boolean => priceTokens(price, { input, output: count }) <= money;
      expect(pays(output) || output === 0).toBe(true);
      expect(pays(output + 1)).toBe(false);
    }),
  );
});

test("at any price, the affordable tokens never cost more than the amount", () => {
  const anyRate = fc.bigInt({ min: 1n, max: 100_000_000_000n });
  fc.assert(
    fc.property(anyRate, anyRate, fc.nat(10_000), amount, (inputRate, outputRate, input, money) => {
      const price = createTokenPrice(inputRate, outputRate);
      const output = countAffordable(price, money, input);
      expect(output === 0 || priceTokens(price, { input, output }) <= money).toBe(true);
    }),
  );
});

test("more affordable tokens than a number can hold are not rounded up", () => {
  const price = createTokenPrice(1n, 1n);
  const money = nano(9_007_199_254_741n);
  expect(priceTokens(price, { input: 0, output: countAffordable(price, money, 0) }) <= money).toBe(true);
});

test("one more token is never affordable, even if a token costs a fraction of a nano unit", () => {
  // 1.3 nano units round down to one, which is enough.
  const price = createTokenPrice(0n, 1300n);
  expect(priceTokens(price, { input: 0, output: 1 })).toBe(1n);
  expect(countAffordable(price, nano(1n), 0)).toBe(1);
});

test("an amount that does not cover the input pays for no output", () => {
  expect(countAffordable(usual, nano(99_999_999n), 100)).toBe(0);
  expect(countAffordable(usual, nano(100_000_000n), 100)).toBe(0);
  expect(countAffordable(usual, nano(101_999_999n), 100)).toBe(0);
  expect(countAffordable(usual, nano(102_000_000n), 100)).toBe(1);
});

test("free output is always affordable", () => {
  expect(countAffordable(createTokenPrice(1n, 0n), nano(0n), 100)).toBe(Number.MAX_SAFE_INTEGER);
  expect(countAffordable(perCall, nano(0n), 100)).toBe(Number.MAX_SAFE_INTEGER);
});

const anyRate = fc.bigInt({ min: 0n, max: 10n ** 12n });
const anyOwnRate = fc.option(anyRate);
const anyOwnPrice = fc
  .record({
    ...{ input: anyRate, output: anyRate, cached_input: anyOwnRate, cache_write_5m: anyOwnRate },
    ...{ cache_write_1h: anyOwnRate, input_audio: anyOwnRate, reasoning: anyOwnRate, output_audio: anyOwnRate },
  })
  .map((rates) => createTestPrice({ rates }));
const share = fc.double({ min: 0, max: 1, noNaN: true });
/** Any plausible usage: shares may overlap as far as vendors let them. */
const anyUsage = fc
  .tuple(fc.nat(10_000_000), fc.nat(10_000_000), fc.array(share, { minLength: 6, maxLength: 6 }))
  .map(([inputTokens, outputTokens, [cached = 0, written = 0, hour = 0, heard = 0, thought = 0, spoken = 0]]) => {
    const cachedInputTokens = Math.floor(inputTokens * cached);
    const cacheWriteTokens = Math.floor((inputTokens - cachedInputTokens) * written);
    return {
      ...{ ...createUsage(inputTokens, outputTokens), cachedInputTokens, cacheWriteTokens },
      cacheWrite1hTokens: Math.floor(cacheWriteTokens * hour),
      inputAudioTokens: Math.floor(inputTokens * heard),
      reasoningTokens: Math.floor(outputTokens * thought),
      outputAudioTokens: Math.floor(outputTokens * spoken),
    };
  });
const anyKinds = fc.record({ hourWrites: fc.boolean(), audioInput: fc.boolean(), audioOutput: fc.boolean() });

test("a usage costs its bill's total, and the bill's lines cover each token once", () => {
  fc.assert(
    fc.property(anyOwnPrice, anyUsage, (price, usage) => {
      for (const each of [price, perCall]) expect(priceUsage(each, usage)).toBe(computeCharge(billChat(each, usage)));
      const { items } = billChat(price, usage);
      expect(items.every(({ quantity }) => quantity >= 0n)).toBe(true);
      expect(items.reduce((sum, { quantity }) => sum + quantity, 0n)).toBe(
        BigInt(usage.inputTokens + usage.outputTokens),
      );
    }),
  );
});

test("no usage that a request can have costs more than its hold", () => {
  fc.assert(
    fc.property(anyOwnPrice, anyUsage, anyKinds, fc.nat(100), (price, told, kinds, more) => {
      const held = { input: told.inputTokens + more, output: told.outputTokens + more };
      expect(priceUsage(price, limitToRequested(told, kinds)) <= priceTokens(price, held, kinds)).toBe(true);
      // A hold shortened to the available balance covers the output it allows.
      const money = priceTokens(price, { input: told.inputTokens, output: Math.floor(told.outputTokens / 2) }, kinds);
      const output = Math.min(countAffordable(price, money, told.inputTokens, kinds), told.outputTokens);
      expect(priceTokens(price, { input: told.inputTokens, output }, kinds) <= money).toBe(true);
    }),
  );
});

test("every charge equals an independent model's in exact fractions, and no hold is below its charge", () => {
  const random = createRandom(testSeed);
  for (let prices = 0; prices < countRuns(10_000); prices += 1) {
    const pricing = createTokenPricing(random);
    const price = compilePricing(pricing);
    for (let usages = 0; usages < 10; usages += 1) {
      const { usage: reported, kinds, inputMax: input, outputMax } = createTokenCase(random);
      const usage = limitToRequested(reported, kinds);
      const charge = priceUsage(price, usage);
      const expected = computeModelCharge(pricing, usage);
      const hold = priceTokens(price, { input, output: outputMax }, kinds);
      // The hold pays for all of the output, and for nothing that costs more.
      const output = countAffordable(price, hold, input, kinds);
      const isExact =
        output === Number.MAX_SAFE_INTEGER ||
        (output >= outputMax && priceTokens(price, { input, output }, kinds) <= hold);
      if (charge === expected && charge <= hold && isExact) continue;
      const numbers = { charge, expected, hold, output };
      throw new Error(
        JSON.stringify([pricing, usage, kinds, input, numbers], (_, value) =>
          typeof value === "bigint" ? `${value}` : value,
        ),
      );
    }
  }
});
