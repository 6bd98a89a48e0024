import { expect, test } from "vitest";
import { samplePhoto } from "../image/sample-photo.ts";
import { createPlanarFrame, layOverPlanes, toPlanar, toPlanes } from "./planar-frame.ts";

/** RGBA of every pixel. */
function fill(width: number, height: number, pixel: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: width * height * 4 }, (_, at) => pixel[at % 4] ?? 0);
}

test.each([
  ["black", [0, 0, 0], [16, 128, 128]],
  ["white", [255, 255, 255], [235, 128, 128]],
  ["red", [255, 0, 0], [82, 90, 240]],
  ["green", [0, 255, 0], [145, 54, 34]],
  ["blue", [0, 0, 255], [41, 240, 110]],
] as const)("%s has the values that players expect", (_, colour, planes) => {
  const found = toPlanes(colour);
  for (const [index, value] of found.entries()) expect(Math.abs(value - (planes[index] ?? 0))).toBeLessThanOrEqual(1);
  const frame = toPlanar(fill(4, 2, [...colour, 255]), 4, 2);
  expect(frame.bytes).toHaveLength(12);
  expect([...frame.bytes]).toEqual([...Array(8).fill(found[0]), found[1], found[1], found[2], found[2]]);
});

test("brightness and colours keep their positions", () => {
  const [red, blue] = [toPlanes([255, 0, 0]), toPlanes([0, 0, 255])];
  const frame = toPlanar(Uint8Array.from([...fill(2, 2, [255, 0, 0, 255]), ...fill(2, 2, [0, 0, 255, 255])]), 2, 4);
  const [light, bluish, reddish] = [0, 1, 2].map((plane) => [red[plane], blue[plane]]);
  expect([...frame.bytes.subarray(0, 8)]).toEqual([...Array(4).fill(light?.[0]), ...Array(4).fill(light?.[1])]);
  expect([...frame.bytes.subarray(8)]).toEqual([...(bluish ?? []), ...(reddish ?? [])]);
});

test("an overlay uses its own opacity and the given one, from its row on", () => {
  const frame = toPlanar(fill(4, 4, [0, 0, 0, 255]), 4, 4);
  layOverPlanes(frame, fill(4, 2, [255, 255, 255, 255]), 2, 1);
  expect([...(frame.planes[0]?.values ?? [])]).toEqual([...Array(8).fill(16), ...Array(8).fill(235)]);
  const half = toPlanar(fill(4, 4, [0, 0, 0, 255]), 4, 4);
  layOverPlanes(half, fill(4, 4, [255, 255, 255, 128]), 0, 0.5);
  for (const value of half.planes[0]?.values ?? []) expect(Math.abs(value - 71)).toBeLessThanOrEqual(1);
});

test("a view shows its part of the photo, interpolated and warped", () => {
  const photo = createPlanarFrame(16, 16);
  for (const { values, width } of photo.planes)
    values.set(values.map((_, at) => (at % width) * 8 + Math.floor(at / width)));
  const frame = createPlanarFrame(8, 8);
  samplePhoto(frame, photo, { x: 8.5, y: 8, step: 1 });
  const [light, colour] = frame.planes;
  expect(light?.values[0]).toBe(4.5 * 8 + 4);
  expect(light?.values[7 * 8 + 7]).toBe(11.5 * 8 + 11);
  expect(colour?.values[0]).toBe(2.25 * 8 + 2);
  samplePhoto(frame, photo, { x: 8, y: 8, step: 0.5 });
  expect(light?.values[2]).toBe(7 * 8 + 6);
  const flat = new Float32Array(8).fill(1);
  samplePhoto(frame, photo, { x: 8, y: 8, step: 1 }, { drop: 2, columns: flat, rows: flat });
  expect(light?.values[0]).toBe(4 * 8 + 2);
});
