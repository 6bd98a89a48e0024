import { expect, test } from "vitest";
import { computeCharge, listChargedItems, listMarks } from "./bill.ts";
import { nano } from "./money.ts";
import { isCostItem, itemizeCost, readCosts } from "./upstream-cost.ts";

const plain = { name: "input_tokens", quantity: 1000n, rate: nano(3_000_000n) };
const cost = { providerId: "vendor/eu", upstreamModel: "m@2026:x", amount: nano(700n), computed: nano(701n) };

test("a cost is read back from the items of a charge", () => {
  const other = { ...cost, upstreamModel: "n", computed: null };
  expect(readCosts([plain, ...itemizeCost(cost), ...itemizeCost(other)])).toEqual([cost, other]);
});

test("a cost changes no charge, and customers see none of it", () => {
  const items = [plain, ...itemizeCost(cost)];
  const price = { per: 1000n, minimum: nano(0n) };
  expect(computeCharge({ items, ...price })).toBe(computeCharge({ items: [plain], ...price }));
  expect(listChargedItems({ items })).toEqual([plain]);
  expect(listMarks({ items })).toEqual({});
  expect(items.map(({ name }) => isCostItem(name))).toEqual([false, true, true]);
});
