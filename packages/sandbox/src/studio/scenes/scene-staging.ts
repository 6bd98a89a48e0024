import { mixColours } from "./colour.ts";
import type { Scene, SceneParts } from "./scene.ts";
import { drawFir } from "./scene-elements.ts";
import { findHeight, type Point } from "./svg-shapes.ts";

type FirPlan = { fill: string; heightMin: number; heightMax: number; stride: number };

export function drawFirs(
  parts: SceneParts,
  line: readonly Point[],
  { fill, heightMin, heightMax, stride }: FirPlan,
): string {
  const { canvas, random } = parts;
  const firs: string[] = [];
  for (let x = -canvas.bleed; x < canvas.width + canvas.bleed; x += stride * random.between(0.5, 1.5)) {
    // The middle stays open, like a stage.
    const edge = Math.abs(x / canvas.width - 0.5) * 2;
    const height = heightMin + (heightMax - heightMin) * Math.min(1, edge ** 1.6) * random.between(0.55, 1.05);
    firs.push(drawFir(parts, [x, findHeight(line, x) + height * 0.06], height, fill));
  }
  return firs.join("");
}

/** Places a subject: flying ones in the sky, others on the ground. */
export function placeInAir(
  { canvas, palette, random }: SceneParts,
  subject: string,
  ground: number,
): { foot: Point; height: number; ink: string } {
  const { width, height, unit } = canvas;
  const x = width * random.pick([random.between(0.2, 0.34), random.between(0.66, 0.8)]);
  const ink = mixColours(palette.near, "#000000", 0.1);
  if (subject === "birds") return { foot: [x, height * 0.36], height: unit * 22, ink };
  if (subject === "balloon") return { foot: [x, height * 0.52], height: unit * 28, ink };
  if (subject === "rocket") return { foot: [x, height * 0.6], height: unit * 26, ink };
  return { foot: [x, ground], height: unit * (subject === "lighthouse" || subject === "tree" ? 30 : 17), ink };
}

export function chooseWeather({ weather, palette }: SceneParts): Scene["particles"] {
  if (weather === "snow") return { kind: "snow", count: 170, colour: "#ffffff" };
  if (weather === "rain") return { kind: "rain", count: 190, colour: mixColours(palette.light, palette.haze, 0.4) };
  return null;
}
