import type { SeededRandom } from "../../seeded-random.ts";
import type { Canvas, SceneParts } from "./scene.ts";

export type Point = readonly [x: number, y: number];
type Stop = readonly [offset: number, colour: string, opacity?: number];

/** Two decimals are invisible and keep documents short. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function drawVerticalGradient(id: string, stops: readonly Stop[]): string {
  return `<linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1">${stops.map(drawStop).join("")}</linearGradient>`;
}

export function drawRadialGradient(id: string, stops: readonly Stop[], centre: Point = [0.5, 0.5]): string {
  const [x, y] = centre;
  return `<radialGradient id="${id}" cx="0.5" cy="0.5" fx="${x}" fy="${y}" r="0.5">${stops.map(drawStop).join("")}</radialGradient>`;
}

export function drawBlur(id: string, deviation: number): string {
  return `<filter id="${id}" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="${round(deviation)}"/></filter>`;
}

/** A rectangle over the whole width of the scene, including its bleed. */
export function drawBand({ width, bleed }: Canvas, top: number, bottom: number, fill: string): string {
  return `<rect x="${-bleed}" y="${round(top)}" width="${width + 2 * bleed}" height="${round(bottom - top)}" fill="${fill}"/>`;
}

export function drawCircle([x, y]: Point, radius: number, fill: string, rest = ""): string {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${fill}" ${rest}/>`;
}

/** A fractal line of hills (midpoint displacement). */
export function createRidge(
  { width, bleed }: Canvas,
  random: SeededRandom,
  { y, amplitude, roughness }: { y: number; amplitude: number; roughness: number },
): Point[] {
  const depth = 8;
  const heights = new Float64Array(2 ** depth + 1);
  heights[0] = random.between(-1, 1);
  heights[heights.length - 1] = random.between(-1, 1);
  let scale = 1;
  for (let step = 2 ** depth; step > 1; step /= 2) {
    for (let left = 0; left + step < heights.length; left += step) {
      const middle = ((heights[left] ?? 0) + (heights[left + step] ?? 0)) / 2;
      heights[left + step / 2] = middle + random.between(-1, 1) * scale;
    }
    scale *= roughness;
  }
  const stride = (width + 2 * bleed) / 2 ** depth;
  return Array.from(heights, (height, index) => [index * stride - bleed, y - height * amplitude] as const);
}

/** A gentle line of a few waves. */
export function createSwell(
  { width, bleed }: Canvas,
  random: SeededRandom,
  { y, amplitude, waves }: { y: number; amplitude: number; waves: number },
): Point[] {
  const parts = [1, 2.3, 4.1].map((factor) => ({ factor, phase: random.between(0, 2 * Math.PI), share: 1 / factor }));
  const steps = 64;
  return Array.from({ length: steps + 1 }, (_, index) => {
    const at = index / steps;
    const height = parts.reduce(
      (sum, { factor, phase, share }) => sum + share * Math.sin(at * waves * factor * 2 * Math.PI + phase),
      0,
    );
    return [at * (width + 2 * bleed) - bleed, y - height * amplitude] as const;
  });
}

export function drawArea(line: readonly Point[], bottom: number, fill: string): string {
  const first = line[0] ?? [0, 0];
  const last = line.at(-1) ?? [0, 0];
  const points = line.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");
  return `<path d="M${round(first[0])} ${round(bottom)}L${points}L${round(last[0])} ${round(bottom)}Z" fill="${fill}"/>`;
}

/** A curve through all points. */
export function describeCurve(points: readonly Point[]): string {
  const at = (index: number): Point => points[Math.min(points.length - 1, Math.max(0, index))] ?? [0, 0];
  const [startX, startY] = at(0);
  let path = `M${round(startX)} ${round(startY)}`;
  for (let index = 0; index < points.length - 1; index += 1) {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)];
    const first = [from[0] + (to[0] - before[0]) / 6, from[1] + (to[1] - before[1]) / 6];
    const second = [to[0] - (after[0] - from[0]) / 6, to[1] - (after[1] - from[1]) / 6];
    path += `C${[...first, ...second, ...to].map(round).join(" ")}`;
  }
  return path;
}

/** The height of a line at a position. */
export function findHeight(line: readonly Point[], x: number): number {
  const index = line.findIndex((point) => point[0] >= x);
  return (line[Math.max(0, index)] ?? [0, 0])[1];
}

/** A soft light around a point. */
export function drawGlow(
  { createId }: SceneParts,
  centre: Point,
  radius: number,
  colour: string,
  opacity: number,
): string {
  const id = createId();
  const stops: Stop[] = [
    [0, colour, opacity],
    [0.25, colour, opacity * 0.45],
    [0.55, colour, opacity * 0.14],
    [1, colour, 0],
  ];
  return `<defs>${drawRadialGradient(id, stops)}</defs>${drawCircle(centre, radius, `url(#${id})`)}`;
}

function drawStop([offset, colour, opacity = 1]: Stop): string {
  return `<stop offset="${offset}" stop-color="${colour}" stop-opacity="${round(opacity)}"/>`;
}
