import fc from "fast-check";
import { expect, test } from "vitest";
import { computeCharge } from "../../lib/bill.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Price } from "../catalog/index.ts";
import { billChat, countAffordableTokens, createUsage, isFree, priceTokens, priceUsage } from "./quote-chat.ts";

function createPrice(amounts: Price["amounts"], minimumCharge = 0n): Price {
  const scope = { modelId: "open", capability: null, planId: null, accountId: null };
  return { id: "price_1", effectiveAt: new Date(0), minimumCharge: nano(minimumCharge), amounts, ...scope };
}

function createTokenPrice(input: bigint, output: bigint, cached: bigint | null = null, minimum = 0n): Price {
  const amounts = { inputPrice: nano(input), outputPrice: nano(output), cachedInputPrice: cached as Nano | null };
  return createPrice({ billingType: "token", unit: "1K tokens", ...amounts }, minimum);
}

/** 1.00, 0.50 where cached, and 2.00. */
const usual = createTokenPrice(1_000_000_000n, 2_000_000_000n, 500_000_000n);
const perCall = createPrice({ billingType: "per_call", unit: "call", price: nano(250_000_000n) });

test("a bill has input, what was cached of it, and output, each at its own price", () => {
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

test("what we counted ourselves says so, and cached input without a price of its own costs as much as other", () => {
  const counted = billChat(usual, createUsage(3, 4));
  expect(counted.items.map(({ name }) => name)).toEqual([
    "counted_input_tokens",
    "cached_input_tokens",
    "counted_output_tokens",
  ]);
  const bill = billChat(createTokenPrice(7n, 0n), { ...createUsage(1000, 0), cachedInputTokens: 400 });
  expect(computeCharge(bill)).toBe(7n);
});

test("a price for each call is one call, whatever was written; its quota is still counted in tokens", () => {
  const bill = billChat(perCall, { ...createUsage(100, 20), isCounted: false });
  expect(bill).toMatchObject({ per: 1n, items: [{ name: "calls", quantity: 1n }], quotaUnits: 120n });
  expect(priceTokens(perCall, { input: 0, output: 0 })).toBe(250_000_000n);
  expect(priceTokens(perCall, { input: 1_000_000, output: 1_000_000 })).toBe(250_000_000n);
});

test("nothing costs less than the minimum, and the minimum is added to nothing", () => {
  const price = createTokenPrice(1_000_000_000n, 2_000_000_000n, null, 50_000_000n);
  expect(priceTokens(price, { input: 1, output: 1 })).toBe(50_000_000n);
  expect(priceTokens(price, { input: 50, output: 1 })).toBe(52_000_000n);
});

test.each([
  ["nothing costs anything", createTokenPrice(0n, 0n), true],
  ["nothing costs anything, cached or not", createTokenPrice(0n, 0n, 0n), true],
  ["a call costs nothing", createPrice({ billingType: "per_call", unit: "call", price: nano(0n) }), true],
  ["only input costs", createTokenPrice(1n, 0n), false],
  ["only output costs", createTokenPrice(0n, 1n), false],
  ["only cached input costs", createTokenPrice(0n, 0n, 1n), false],
  ["only the minimum costs", createTokenPrice(0n, 0n, null, 1n), false],
  ["a call costs", perCall, false],
])("free is what costs nothing in any case: %s", (_name, price, expected) => {
  expect(isFree(price)).toBe(expected);
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

test("input and output cost together what they cost apart, but for the rounding of one billionth", () => {
  fc.assert(
    fc.property(rate, rate, tokens, tokens, (inputRate, outputRate, input, output) => {
      const price = createTokenPrice(inputRate, outputRate);
      const together = priceTokens(price, { input, output });
      const apart = priceTokens(price, { input, output: 0 }) + priceTokens(price, { input: 0, output });
      expect(apart - together >= -1n && apart - together <= 1n).toBe(true);
    }),
  );
});

test("cached input never costs more than the same input uncached, where its price is lower", () => {
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

test("an amount pays for exactly as many tokens as are affordable, where a token costs whole billionths", () => {
  const wholeRate = fc.bigInt({ min: 1n, max: 100_000_000n }).map((perToken) => perToken * 1000n);
  fc.assert(
    fc.property(wholeRate, wholeRate, fc.nat(10_000), amount, (inputRate, outputRate, input, money) => {
      const price = createTokenPrice(inputRate, outputRate);
      const output = countAffordableTokens(price, money, input);
      const pays = (count: number): boolean => priceTokens(price, { input, output: count }) <= money;
      expect(pays(output) || output === 0).toBe(true);
      expect(pays(output + 1)).toBe(false);
    }),
  );
});

test("whatever the price, no more tokens are affordable than the amount pays for", () => {
  const anyRate = fc.bigInt({ min: 1n, max: 100_000_000_000n });
  fc.assert(
    fc.property(anyRate, anyRate, fc.nat(10_000), amount, (inputRate, outputRate, input, money) => {
      const price = createTokenPrice(inputRate, outputRate);
      const output = countAffordableTokens(price, money, input);
      expect(output === 0 || priceTokens(price, { input, output }) <= money).toBe(true);
    }),
  );
});

test("what pays for more tokens than a number can tell is not rounded up", () => {
  const price = createTokenPrice(1n, 1n);
  const money = nano(9_007_199_254_741n);
  expect(priceTokens(price, { input: 0, output: countAffordableTokens(price, money, 0) }) <= money).toBe(true);
});

test("one token more is never affordable, also where a token costs a fraction of a billionth", () => {
  // 1.3 billionths are rounded to one, which is there.
  const price = createTokenPrice(0n, 1300n);
  expect(priceTokens(price, { input: 0, output: 1 })).toBe(1n);
  expect(countAffordableTokens(price, nano(1n), 0)).toBe(1);
});

test("an amount that does not even pay for the input pays for no output", () => {
  expect(countAffordableTokens(usual, nano(99_999_999n), 100)).toBe(0);
  expect(countAffordableTokens(usual, nano(100_000_000n), 100)).toBe(0);
  expect(countAffordableTokens(usual, nano(101_999_999n), 100)).toBe(0);
  expect(countAffordableTokens(usual, nano(102_000_000n), 100)).toBe(1);
});

test("where output costs nothing, all of it is affordable", () => {
  expect(countAffordableTokens(createTokenPrice(1n, 0n), nano(0n), 100)).toBe(Number.MAX_SAFE_INTEGER);
  expect(countAffordableTokens(perCall, nano(0n), 100)).toBe(Number.MAX_SAFE_INTEGER);
});

test("a usage costs what its bill comes to", () => {
  const count = fc.integer({ min: 0, max: 1_000_000_000 });
  const rate = fc.bigInt({ min: 0n, max: 10n ** 12n });
  fc.assert(
    fc.property(count, count, count, fc.tuple(rate, rate, fc.option(rate), rate), (input, part, output, rates) => {
      const usage = { ...createUsage(input, output), cachedInputTokens: Math.min(part, input) };
      for (const price of [createTokenPrice(...rates), perCall]) {
        expect(priceUsage(price, usage)).toBe(computeCharge(billChat(price, usage)));
      }
    }),
  );
});
