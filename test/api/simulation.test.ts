import { expect, test } from "vitest";
import type { PriceItem } from "../../src/features/catalog/index.ts";
import { billChat } from "../../src/features/chat/quote-chat.ts";
import { createRebiller } from "../../src/features/simulation/create-rebiller.ts";
import { computeCharge } from "../../src/lib/bill.ts";
import { nano } from "../../src/lib/money.ts";
import { itemizeCost } from "../../src/lib/upstream-cost.ts";
import { createTestPrice } from "../harness/create-test-price.ts";
import { compilePricing, createRandom, createTokenCase, createTokenPricing } from "../harness/price-model.ts";
import { testSeed } from "../harness/test-seed.ts";

const cost = { providerId: "acme", upstreamModel: "m", amount: nano(7n), computed: nano(8n) };

test("a charge of tokens is billed again to the nano at its own price, whatever that is", () => {
  const random = createRandom(testSeed);
  for (let count = 0; count < 2_000; count += 1) {
    const { line, use } = createTokenPricing(random);
    const { usage } = createTokenCase(random);
    const bill = billChat(compilePricing({ line, use }), { ...usage, isCounted: random.isOneIn(2) });
    const items = [...bill.items, ...itemizeCost(cost)];
    const listed = compilePricing({ line, use: { ...use, serviceTier: null, searches: false } });
    const { rebill, sumCost } = createRebiller(
      items.map(({ name }) => name),
      listed,
    );
    const quantities = items.map(({ quantity }) => quantity);
    expect(rebill(quantities), JSON.stringify(line)).toBe(computeCharge(bill));
    expect(sumCost(quantities)).toBe(7n);
  }
});

const high = { item: "image" as const, rate: nano(250n), when: { quality: "high" } };
const rest = { item: "image" as const, rate: nano(100n) };
const fee = { item: "input_image" as const, rate: nano(9n) };
const bill = (names: readonly string[], items: PriceItem[], quantities: bigint[]) =>
  createRebiller(names, createTestPrice({ unit: "image", items })).rebill(quantities);

test("a charge of media is billed again by the options that it stored", () => {
  expect(bill(["images", "input_images", "quality:high"], [high, rest, fee], [2n, 3n, 1n])).toBe(527n);
  expect(bill(["images", "quality:low"], [high, rest, fee], [2n, 1n])).toBe(200n);
  expect(bill(["images"], [rest], [2n])).toBe(200n);
});

test("a charge keeps its amount if it stored no option that the draft asks for, or another unit", () => {
  expect(bill(["images"], [high, rest], [2n])).toBeNull();
  expect(bill(["seconds"], [rest], [2n])).toBeNull();
  expect(bill(["video_seconds", "script_calls"], [rest], [2n, 1n])).toBeNull();
  expect(bill([], [rest], [])).toBeNull();
});
