import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drainBacklog, hasRoom, presentRate, priceCharge, priceDelta, priceRate, type RateMark } from "./gcra.ts";

const perMinute = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 10_000_000 }));
const moment = fc.integer({ min: 0, max: 10 ** 13 });

test("a limit of any size admits exactly its number of units at one moment", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3000 }), (limit) => {
      const unit = { perMinute: limit, cost: 1 };
      let backlogUs = 0;
      let right = 0;
      for (let taken = 0; taken < limit; taken += 1) {
        const hadRoom = hasRoom(unit, backlogUs);
        backlogUs += priceCharge(unit);
        // Not an assertion each: a million take seconds.
        if (hadRoom && presentRate(unit, backlogUs, false).remaining === limit - taken - 1) right += 1;
      }
      expect([right, hasRoom(unit, backlogUs)]).toEqual([limit, false]);
    }),
  );
});

test("a million units a minute are counted exactly", () => {
  const limit = 7_654_321;
  const unit = { perMinute: limit, cost: 1 };
  let backlogUs = 0;
  let taken = 0;
  for (; hasRoom(unit, backlogUs); taken += 1) backlogUs += priceCharge(unit);
  expect(taken).toBe(limit);
});

test("a used-up limit refills in one minute, to the millisecond", () => {
  fc.assert(
    fc.property(perMinute, moment, (limit, atUs) => {
      const mark: RateMark = { backlogUs: priceCharge({ perMinute: limit, cost: limit }), atUs };
      expect(drainBacklog(mark, atUs + 60_000_000)).toBe(0);
      // A unit is rounded down by up to 2⁻¹⁶ µs, which is 153 µs for 10 000 000 units.
      expect(drainBacklog(mark, atUs + 59_999_000)).toBeGreaterThan(1000 - 153);
    }),
  );
});

describe("a huge cost", () => {
  const huge = { perMinute: 100, cost: 1000 };

  test("passes when nothing is used and leaves its whole cost as debt", () => {
    expect(hasRoom(huge, 0)).toBe(true);
    expect(presentRate(huge, 0, true)).toEqual({
      limit: 100,
      remaining: 0,
      resetMs: 600_000,
      retryAfterMs: 0,
    });
  });

  test("is rejected while any unit is used", () => {
    const backlogUs = priceCharge({ perMinute: 100, cost: 1 });
    expect(hasRoom(huge, backlogUs)).toBe(false);
    expect(presentRate(huge, backlogUs, false).retryAfterMs).toBe(600);
  });
});

test("reading costs nothing and passes even in debt", () => {
  const reading = { perMinute: 100, cost: 0 };
  expect(hasRoom(reading, 10 ** 12)).toBe(true);
  expect(presentRate(reading, 10 ** 12, true)).toEqual({
    limit: 100,
    remaining: 0,
    resetMs: 10 ** 9,
    retryAfterMs: 0,
  });
});

test("a limit of zero admits only readings", () => {
  expect(hasRoom({ perMinute: 0, cost: 1 }, 0)).toBe(false);
  expect(hasRoom({ perMinute: 0, cost: 0 }, 0)).toBe(true);
  const state = presentRate({ perMinute: 0, cost: 500 }, 0, false);
  expect(state).toEqual({ limit: 0, remaining: 0, resetMs: 0, retryAfterMs: 60_000 });
});

test("when the limit changes, the used share stays the same", () => {
  const backlogUs = priceCharge({ perMinute: 600, cost: 300 });
  for (const [limit, remaining] of [
    [600, 300],
    [60, 30],
    [6000, 3000],
  ] as const) {
    expect(presentRate({ perMinute: limit, cost: 0 }, backlogUs, false).remaining).toBe(remaining);
  }
});

test("a clock set back neither refills nor adds debt", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), moment, moment, (backlogUs, atUs, backUs) => {
      expect(drainBacklog({ backlogUs, atUs }, atUs - backUs)).toBe(backlogUs);
    }),
  );
});

test.each([
  { perMinute: -1, cost: 1 },
  { perMinute: Number.NaN, cost: 1 },
  { perMinute: Number.POSITIVE_INFINITY, cost: 1 },
  { perMinute: 1, cost: -1 },
  { perMinute: 1, cost: Number.NaN },
  { perMinute: 1, cost: Number.POSITIVE_INFINITY },
])("invalid limits and costs throw: %o", (check) => {
  expect(() => priceRate(check)).toThrow("Invariant");
  expect(() => hasRoom(check, 0)).toThrow("Invariant");
});

test("a correction that is not a number throws", () => {
  expect(() => priceDelta({ perMinute: 1, delta: Number.NaN })).toThrow("Invariant");
  expect(() => priceDelta({ perMinute: -1, delta: 1 })).toThrow("Invariant");
});
