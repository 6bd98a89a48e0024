import type { Canvas, SceneLayer } from "../scenes/scene.ts";
import { round } from "../scenes/svg-shapes.ts";
import { poseLayer } from "./compose-frame.ts";

/**
 * Joins static layers into one: drawing one document is much cheaper than composing ten. Rippling layers stay separate,
 * because each of their rows moves differently.
 */
export function joinLayers(layers: readonly SceneLayer[], canvas: Canvas, camera: number): SceneLayer {
  const parts = layers.map(({ svg, depth, motion = null }) => {
    const { offsetX, offsetY, opacity } = poseLayer({ depth, motion }, canvas, camera, 0);
    const place = `translate(${round(-offsetX)} ${round(-offsetY)})`;
    return `<g transform="${place}"${opacity < 1 ? ` opacity="${round(opacity)}"` : ""}>${svg}</g>`;
  });
  return { svg: parts.join(""), depth: 0 };
}

/** The same scene in as few layers as possible without movement. */
export function joinStillLayers(layers: readonly SceneLayer[], canvas: Canvas): SceneLayer[] {
  const joined: SceneLayer[] = [];
  let run: SceneLayer[] = [];
  for (const layer of layers) {
    if (layer.motion?.kind === "ripple") {
      joined.push(joinLayers(run, canvas, 0), layer);
      run = [];
    } else run.push(layer);
  }
  return [...joined, joinLayers(run, canvas, 0)];
}
