import { expect, test } from "vitest";
import { chooseFrame, placeImage } from "./choose-frame.ts";

test.each([
  ["16:9", [[1280, 720]], [1280, 720]],
  [
    "16:9",
    [
      [640, 360],
      [1280, 720],
    ],
    [1280, 720],
  ],
  ["9:16", [[720, 1280]], [720, 1280]],
  ["1:1", [[1280, 720]], [720, 720]],
  ["4:3", [[1280, 720]], [960, 720]],
  ["16:9", [[64, 36]], [160, 90]],
  ["16:9", [[3840, 2160]], [1920, 1080]],
  ["9:16", [[2160, 3840]], [1080, 1920]],
  ["21:9", [[1281, 721]], [1282, 550]],
] as const)("a film of %s from clips of %j is %j", (ratio, clips, expected) => {
  const { width, height } = chooseFrame(
    ratio,
    clips.map(([w, h]) => ({ width: w, height: h })),
  );
  expect([width, height]).toEqual(expected);
});

test("a clip of nearly the film's ratio is cropped, any other is letterboxed", () => {
  const frame = { width: 1280, height: 720 };
  expect(placeImage({ width: 1280, height: 720 }, frame)).toEqual({ kind: "cover", width: 1280, height: 720 });
  expect(placeImage({ width: 960, height: 640 }, frame)).toEqual({ kind: "cover", width: 1280, height: 854 });
  expect(placeImage({ width: 840, height: 360 }, frame)).toMatchObject({ kind: "fit", width: 1280 });
  expect(placeImage({ width: 720, height: 1280 }, frame)).toEqual({ kind: "fit", width: 406, height: 720 });
  expect(placeImage({ width: 960, height: 960 }, frame)).toEqual({ kind: "fit", width: 720, height: 720 });
});
