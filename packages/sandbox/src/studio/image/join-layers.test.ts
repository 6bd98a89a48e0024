import { expect, test } from "vitest";
import { createCanvas, type SceneLayer } from "../scenes/scene.ts";
import { joinLayers, joinStillLayers } from "./join-layers.ts";

const canvas = createCanvas(1000, 500);
const far: SceneLayer = { svg: "<far/>", depth: 0 };
const near: SceneLayer = { svg: "<near/>", depth: 1 };
const lamp: SceneLayer = {
  svg: "<lamp/>",
  depth: 0,
  motion: { kind: "twinkle", periodSeconds: 2, phase: 0, opacityMin: 0.5 },
};
const water: SceneLayer = { svg: "<water/>", depth: 0.5, motion: { kind: "ripple", units: 1, periodSeconds: 2 } };

test("static layers become one, in order; rippling ones stay separate", () => {
  const [first, second, third, ...rest] = joinStillLayers([far, lamp, water, near], canvas);
  expect(rest).toEqual([]);
  expect(first?.svg).toMatch(/<far\/>.*<lamp\/>/u);
  expect(second).toBe(water);
  expect(third?.svg).toContain("<near/>");
});

test("near layers move with the camera, far ones do not, and lights have the brightness of the moment", () => {
  const { svg } = joinLayers([far, near, lamp], canvas, 1);
  expect(svg).toBe(
    '<g transform="translate(0 0)"><far/></g><g transform="translate(-90 0)"><near/></g><g transform="translate(0 0)" opacity="0.75"><lamp/></g>',
  );
});
