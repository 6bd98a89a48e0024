import { expect, test } from "vitest";
import { createSweptMap, type SweptMap } from "./swept-map.ts";

/** The values are the moments when they are spent. */
function createMap(entriesMax: number): SweptMap<number> {
  return createSweptMap<number>({ entriesMax, isSpent: (spentAtUs, nowUs) => spentAtUs <= nowUs });
}

function listKept(map: SweptMap<number>, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `key ${index}`).filter((key) => map.get(key) !== undefined);
}

test("while keys come and go, about as many are kept as are in use", () => {
  const map = createMap(1_000_000);
  const livesFor = 100;
  for (let now = 0; now < 5000; now += 1) map.add(`key ${now}`, now + livesFor, now);
  expect(listKept(map, 5000).length).toBeLessThanOrEqual(2 * livesFor + 2);
});

test("nothing that is in use is forgotten below the maximum", () => {
  const map = createMap(1000);
  for (let now = 0; now < 1000; now += 1) map.add(`key ${now}`, 1_000_000, now);
  expect(listKept(map, 1000).length).toBe(1000);
});

test("at the maximum a new key takes the place of one other", () => {
  const map = createMap(10);
  for (let now = 0; now < 35; now += 1) {
    map.add(`key ${now}`, 1_000_000, now);
    expect(map.get(`key ${now}`)).toBe(1_000_000);
    expect(listKept(map, 35).length).toBe(Math.min(now + 1, 10));
  }
});

test("a map to which nothing is added is emptied by looking at it", () => {
  const map = createMap(1000);
  for (let index = 0; index < 50; index += 1) map.add(`key ${index}`, 100, 0);
  for (let looks = 0; looks < 50; looks += 1) map.sweep(99);
  expect(listKept(map, 50).length).toBe(50);
  for (let looks = 0; looks < 101; looks += 1) map.sweep(100);
  expect(listKept(map, 50)).toEqual([]);
  map.sweep(100);
});
