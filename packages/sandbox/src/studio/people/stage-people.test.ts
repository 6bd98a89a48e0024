import { expect, test } from "vitest";
import { peopleMax } from "../image/shot-prompt.ts";
import { createCanvas } from "../scenes/scene.ts";
import { type PersonPlace, placePerson } from "./stage-people.ts";

const sizes = [
  [1536, 1024],
  [1024, 1536],
  [1024, 1024],
  [64, 48],
] as const;
const distances = ["close", "medium", "wide"] as const;

function listPlaces(count: number, distance: (typeof distances)[number], [width, height]: readonly [number, number]) {
  const canvas = createCanvas(width, height);
  return Array.from({ length: count }, (_, index) => placePerson(index, count, { canvas, distance }));
}

/** Heads are narrower than the boxes of people. */
function findHead({ left, width }: PersonPlace): [number, number] {
  return [left + width * 0.25, left + width * 0.75];
}

test("people are inside the frame, from left to right, and no head hides another", () => {
  for (const size of sizes) {
    for (const distance of distances) {
      for (let count = 1; count <= peopleMax; count += 1) {
        const places = listPlaces(count, distance, size);
        for (const [index, place] of places.entries()) {
          const name = `${index} of ${count}, ${distance}, ${size.join("x")}`;
          expect(place.left, name).toBeGreaterThanOrEqual(0);
          expect(place.left + place.width, name).toBeLessThanOrEqual(size[0]);
          expect(place.top, name).toBeGreaterThanOrEqual(0);
          expect(place.top + place.height, name).toBeLessThanOrEqual(size[1]);
          expect(Math.abs(place.height / place.width - 1.2), name).toBeLessThan(0.2);
          const next = places[index + 1];
          if (next !== undefined) expect(findHead(next)[0], name).toBeGreaterThan(findHead(place)[1]);
        }
      }
    }
  }
});

test("near people are large, and a single person is in the middle", () => {
  const [close, medium, wide] = distances.map((distance) => listPlaces(1, distance, [1536, 1024])[0]);
  expect(close?.height).toBeGreaterThan(950);
  expect(medium?.height).toBeLessThan(close?.height ?? 0);
  expect(wide?.height).toBeLessThan(0.6 * 1024);
  for (const place of [close, medium, wide]) {
    expect(Math.abs((place?.left ?? 0) + (place?.width ?? 0) / 2 - 768)).toBeLessThan(3);
  }
});
