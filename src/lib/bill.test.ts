import fc from "fast-check";
import { expect, test } from "vitest";
import { type Bill, computeCharge } from "./bill.ts";
import { nano } from "./money.ts";

type Charged = Pick<Bill, "items" | "per" | "minimum">;

function createBill(quantities: readonly (readonly [bigint, bigint])[], per: bigint, minimum = 0n): Charged {
  const items = quantities.map(([quantity, rate], index) => ({ name: `item ${index}`, quantity, rate: nano(rate) }));
  return { items, per, minimum: nano(minimum) };
}

test.each([
  // 1 000 tokens at 0.00015 for 1 000, 500 at 0.0006
  [
    createBill(
      [
        [1000n, 150_000n],
        [500n, 600_000n],
      ],
      1000n,
    ),
    450_000n,
  ],
  // Half of a billionth is rounded up, less is rounded down.
  [createBill([[1n, 500n]], 1000n), 1n],
  [createBill([[1n, 499n]], 1000n), 0n],
  [createBill([[3n, 500n]], 1000n), 2n],
  // Rounded once: two items that would each be rounded down are one billionth together.
  [
    createBill(
      [
        [1n, 300n],
        [1n, 300n],
      ],
      1000n,
    ),
    1n,
  ],
  // The minimum counts after rounding.
  [createBill([[1n, 500n]], 1000n, 7n), 7n],
  [createBill([], 1n), 0n],
  [createBill([], 1n, 5n), 5n],
])("bill %#: %o costs %o", (bill, cost) => {
  expect(computeCharge(bill)).toBe(cost);
});

const quantity = fc.bigInt({ min: 0n, max: 10n ** 15n });
const rate = fc.bigInt({ min: 0n, max: 10n ** 15n });
const items = fc.array(fc.tuple(quantity, rate), { maxLength: 5 });

test("a charge is the exact sum, rounded half up once, and never below the minimum", () => {
  fc.assert(
    fc.property(
      items,
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      (list, per, minimum) => {
        const cost = computeCharge(createBill(list, per, minimum));
        const exact = list.reduce((sum, [count, price]) => sum + count * price, 0n);
        if (cost === minimum && 2n * exact < (2n * minimum + 1n) * per) return;
        // cost − ½ ≤ exact / per < cost + ½, multiplied by 2 × per so that all of it is whole.
        expect((2n * cost - 1n) * per <= 2n * exact).toBe(true);
        expect(2n * exact < (2n * cost + 1n) * per).toBe(true);
        expect(cost >= minimum).toBe(true);
      },
    ),
  );
});

test("more of anything never costs less", () => {
  fc.assert(
    fc.property(items, quantity, rate, fc.bigInt({ min: 1n, max: 10n ** 9n }), (list, count, price, per) => {
      const less = computeCharge(createBill(list, per));
      expect(computeCharge(createBill([...list, [count, price]], per)) >= less).toBe(true);
    }),
  );
});
