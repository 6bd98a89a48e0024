import type { Canvas } from "../scenes/scene.ts";
import type { LayerRaster } from "./layer-raster.ts";
import { phaseCount } from "./layer-raster.ts";

/** The position of a layer at a moment of a video. */
export type LayerPose = {
  /** The shift to the left in pixels; a rippling layer has another in each row. */
  offsetX: number;
  ripple: { pixels: number; turns: number } | null;
  offsetY: number;
  opacity: number;
};

/** The position of a layer at camera position `camera`: from −1, as far left as the bleed allows, to 1. */
export function poseLayer(
  layer: Pick<LayerRaster, "motion" | "depth">,
  canvas: Canvas,
  camera: number,
  seconds: number,
): LayerPose {
  const { motion, depth } = layer;
  const pose: LayerPose = { offsetX: depth * camera * canvas.bleed * 0.9, ripple: null, offsetY: 0, opacity: 1 };
  if (motion === null) return pose;
  const turn = (periodSeconds: number, phase: number): number => (seconds / periodSeconds) * 2 * Math.PI + phase;
  switch (motion.kind) {
    case "drift":
      pose.offsetX += motion.unitsPerSecond * canvas.unit * seconds;
      break;
    case "bob":
      pose.offsetY = Math.sin(turn(motion.periodSeconds, motion.phase)) * motion.units * canvas.unit;
      break;
    case "ripple":
      pose.ripple = { pixels: motion.units * canvas.unit, turns: turn(motion.periodSeconds, 0) };
      break;
    case "twinkle": {
      const light = 0.5 + 0.5 * Math.sin(turn(motion.periodSeconds, motion.phase * 3));
      pose.opacity = motion.opacityMin + (1 - motion.opacityMin) * light;
      break;
    }
  }
  return pose;
}

/** Composes a layer over an opaque RGBA frame. */
export function composeLayer(frame: Uint8Array, canvas: Canvas, layer: LayerRaster, pose: LayerPose): void {
  const { width, height, bleed, unit } = canvas;
  const lastOffset = bleed - 2;
  const shiftY = Math.floor(pose.offsetY);
  const shareY = layer.phases.length > 1 ? pose.offsetY - shiftY : 0;
  for (let y = 0; y < height; y += 1) {
    const wave = pose.ripple === null ? 0 : Math.sin(y / (unit * 1.3) + pose.ripple.turns) * pose.ripple.pixels;
    const offset = Math.min(lastOffset, Math.max(-lastOffset, pose.offsetX + wave));
    const steps = Math.round((bleed + offset) * phaseCount);
    const phase = layer.phases.length > 1 ? steps % phaseCount : 0;
    const pixels = layer.phases[phase] ?? layer.phases[0];
    if (pixels === undefined) return;
    const row: RowPlan = { pixels, source: Math.floor(steps / phaseCount), target: y * width, width };
    // Beyond a layer's edge its last row repeats, which only bobbing layers show.
    const sourceY = Math.min(layer.height - 1, Math.max(0, y + shiftY));
    const below = Math.min(layer.height - 1, sourceY + 1);
    if (shareY > 0.02 && below !== sourceY) blendTwoRows(frame, layer, row, sourceY, below, shareY);
    else if (pose.opacity < 0.995) blendFaded(frame, layer, row, sourceY, pose.opacity);
    else blendRow(frame, layer, row, sourceY);
  }
}

type RowPlan = { pixels: Uint8Array; source: number; target: number; width: number };

function blendRow(frame: Uint8Array, layer: LayerRaster, { pixels, source, target, width }: RowPlan, y: number): void {
  const { spans } = layer;
  const clip = (x: number): number => Math.min(width, Math.max(0, x - source));
  const from = clip(spans[y * 4] ?? 0);
  const to = clip(spans[y * 4 + 1] ?? 0);
  const opaqueFrom = clip(spans[y * 4 + 2] ?? 0);
  const opaqueTo = clip(spans[y * 4 + 3] ?? 0);
  const base = (y * layer.width + source) * 4;
  if (opaqueTo > opaqueFrom) {
    blendPixels(frame, pixels, target * 4, base, from, opaqueFrom);
    frame.set(pixels.subarray(base + opaqueFrom * 4, base + opaqueTo * 4), (target + opaqueFrom) * 4);
    blendPixels(frame, pixels, target * 4, base, opaqueTo, to);
  } else blendPixels(frame, pixels, target * 4, base, from, to);
}

function blendPixels(
  frame: Uint8Array,
  pixels: Uint8Array,
  target: number,
  base: number,
  from: number,
  to: number,
): void {
  for (let x = from; x < to; x += 1) {
    const at = base + x * 4;
    const opacity = pixels[at + 3] as number;
    if (opacity === 0) continue;
    const into = target + x * 4;
    const rest = 255 - opacity;
    // 257 / 65536 approximates 1 / 255 well enough for bytes.
    frame[into] = (pixels[at] as number) + (((frame[into] as number) * rest * 257 + 32_768) >> 16);
    frame[into + 1] = (pixels[at + 1] as number) + (((frame[into + 1] as number) * rest * 257 + 32_768) >> 16);
    frame[into + 2] = (pixels[at + 2] as number) + (((frame[into + 2] as number) * rest * 257 + 32_768) >> 16);
  }
}

function blendFaded(
  frame: Uint8Array,
  layer: LayerRaster,
  { pixels, source, target, width }: RowPlan,
  y: number,
  opacity: number,
): void {
  const factor = Math.round(opacity * 256);
  const base = (y * layer.width + source) * 4;
  const from = Math.min(width, Math.max(0, (layer.spans[y * 4] ?? 0) - source));
  const to = Math.min(width, Math.max(0, (layer.spans[y * 4 + 1] ?? 0) - source));
  for (let x = from; x < to; x += 1) {
    const at = base + x * 4;
    const share = ((pixels[at + 3] as number) * factor) >> 8;
    if (share === 0) continue;
    const into = (target + x) * 4;
    const rest = 255 - share;
    for (let channel = 0; channel < 3; channel += 1) {
      const added = ((pixels[at + channel] as number) * factor) >> 8;
      frame[into + channel] = added + (((frame[into + channel] as number) * rest * 257 + 32_768) >> 16);
    }
  }
}

/** Interpolates between two rows. */
function blendTwoRows(
  frame: Uint8Array,
  layer: LayerRaster,
  { pixels, source, target, width }: RowPlan,
  upper: number,
  lower: number,
  share: number,
): void {
  const { spans } = layer;
  const from = Math.min(width, Math.max(0, Math.min(spans[upper * 4] ?? 0, spans[lower * 4] ?? 0) - source));
  const to = Math.min(width, Math.max(0, Math.max(spans[upper * 4 + 1] ?? 0, spans[lower * 4 + 1] ?? 0) - source));
  const upperBase = (upper * layer.width + source) * 4;
  const lowerBase = (lower * layer.width + source) * 4;
  const lowerShare = Math.round(share * 256);
  const upperShare = 256 - lowerShare;
  for (let x = from; x < to; x += 1) {
    const [above, beneath] = [upperBase + x * 4, lowerBase + x * 4];
    const opacity = ((pixels[above + 3] as number) * upperShare + (pixels[beneath + 3] as number) * lowerShare) >> 8;
    if (opacity === 0) continue;
    const into = (target + x) * 4;
    const rest = 255 - opacity;
    for (let channel = 0; channel < 3; channel += 1) {
      const added =
        ((pixels[above + channel] as number) * upperShare + (pixels[beneath + channel] as number) * lowerShare) >> 8;
      frame[into + channel] = added + (((frame[into + channel] as number) * rest * 257 + 32_768) >> 16);
    }
  }
}
