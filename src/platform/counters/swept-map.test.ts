import { expect, test } from "vitest";
import { createSweptMap, type SweptMap } from "./swept-map.ts";

/** The values are expiry times. */
function createMap(entriesMax: number): SweptMap<number> {
  return createSweptMap<number>({ entriesMax, isSpent: (spentAtUs, nowUs) => spentAtUs <= nowUs });
}

function listKept(map: SweptMap<number>, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `key ${index}`).filter((key) => map.get(key) !== undefined);
}

test("the map keeps about as many keys as are in use", () => {
  const map = createMap(1_000_000);
  const livesFor = 100;
  for (let now = 0; now < 5000; now += 1) map.add(`key ${now}`, now + livesFor, now);
  expect(listKept(map, 5000).length).toBeLessThanOrEqual(2 * livesFor + 2);
});

test("below the maximum, no key in use is evicted", () => {
  const map = createMap(1000);
  for (let now = 0; now < 1000; now += 1) map.add(`key ${now}`, 1_000_000, now);
  expect(listKept(map, 1000).length).toBe(1000);
});

test("at the maximum, a new key evicts one other", () => {
  const map = createMap(10);
  for (let now = 0; now < 35; now += 1) {
    map.add(`key ${now}`, 1_000_000, now);
    expect(map.get(`key ${now}`)).toBe(1_000_000);
    expect(listKept(map, 35).length).toBe(Math.min(now + 1, 10));
  }
});

test("sweeping empties a map without additions", () => {
  const map = createMap(1000);
  for (let index = 0; index < 50; index += 1) map.add(`key ${index}`, 100, 0);
  for (let looks = 0; looks < 50; looks += 1) map.sweep(99);
  expect(listKept(map, 50).length).toBe(50);
  for (let looks = 0; looks < 101; looks += 1) map.sweep(100);
  expect(listKept(map, 50)).toEqual([]);
  map.sweep(100);
});
