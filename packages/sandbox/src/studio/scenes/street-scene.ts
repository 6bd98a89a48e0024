import { mixColours } from "./colour.ts";
import { box } from "./furniture.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { drawClouds, drawMist, drawMoon, drawSky, drawStars, drawSun } from "./scene-elements.ts";
import { chooseWeather, drawCast } from "./scene-staging.ts";
import { drawGlow, drawVerticalGradient, type Point, round } from "./svg-shapes.ts";

/** A street between houses that runs towards the light, with lamps along it. */
export function drawStreet(parts: SceneParts): Scene {
  const { canvas, palette, random, weather } = parts;
  const { width, height, unit } = canvas;
  const end: Point = [width * random.between(0.44, 0.56), height * 0.62];
  const light: Point = [end[0] + unit * random.between(-8, 8), height * random.between(0.3, 0.42)];
  return {
    layers: [
      drawSky(parts, 0.7),
      ...(palette.isDark ? [drawStars(parts, { count: 120, bottom: height * 0.45, phase: 0.3 })] : []),
      palette.isDark ? drawMoon(parts, light, unit * 5) : drawSun(parts, light, unit * 5),
      drawClouds(parts, { from: height * 0.06, to: height * 0.3, count: 4, opacity: palette.isDark ? 0.12 : 0.45 }),
      drawMist(parts, height * 0.4, height * 0.72, 0.6),
      ...[0, 0.33, 0.66, 1].map(
        (share): SceneLayer => ({ svg: drawHouses(parts, end, share), depth: 0.1 + 0.5 * share }),
      ),
      { svg: drawRoad(parts, end), depth: 0.3 },
      { svg: drawLamps(parts, end), depth: 0.55 },
      ...drawCast(parts, { ground: height * 0.86, scale: 1.15 }),
    ],
    particles: chooseWeather(parts),
    sound: weather === "rain" ? "rain" : "city",
  };
}

/** A house on each side; nearer ones are taller and farther from the middle. */
function drawHouses(parts: SceneParts, [x, y]: Point, share: number): string {
  const { canvas, palette } = parts;
  const { unit, width, height, bleed } = canvas;
  const gap = unit * 7 + (width * 0.34 - unit * 7) * share;
  const tall = unit * 26 + height * 0.52 * share;
  const foot = y + unit * 2 + height * 0.2 * share;
  const wall = mixColours(mixColours(palette.haze, palette.far, 0.5), palette.near, 0.18 + share * 0.6);
  const wide = unit * 16 + width * 0.3 * share;
  return ([-1, 1] as const)
    .map((side) => {
      const inner = x + side * gap;
      const left = side < 0 ? Math.max(-bleed, inner - wide) : inner;
      return drawHouse(parts, { left, top: foot - tall, wide, foot, wall, share });
    })
    .join("");
}

type Facade = { left: number; top: number; wide: number; foot: number; wall: string; share: number };

function drawHouse(parts: SceneParts, { left, top, wide, foot, wall, share }: Facade): string {
  const { palette, random, canvas } = parts;
  const { unit } = canvas;
  const size = unit * (2.4 + 4.6 * share);
  const [lit, dark] = [mixColours(palette.accent, "#ffe2a6", 0.6), mixColours(wall, palette.near, 0.5)];
  const panes: string[] = [];
  for (let y = top + size * 1.3; y < foot - size * 3; y += size * 2.2) {
    for (let x = left + size * 0.8; x < left + wide - size; x += size * 1.9) {
      const isLit = random.chance(palette.isDark ? 0.42 : 0.08);
      panes.push(box(x, y, size, size * 1.35, isLit ? lit : mixColours(dark, palette.sky[2], 0.18)));
      panes.push(box(x - size * 0.1, y + size * 1.35, size * 1.2, size * 0.16, mixColours(wall, palette.light, 0.25)));
    }
  }
  const shop = box(left + wide * 0.12, foot - size * 2.3, wide * 0.76, size * 1.7, palette.isDark ? lit : dark);
  const awning = box(
    left + wide * 0.08,
    foot - size * 2.8,
    wide * 0.84,
    size * 0.6,
    mixColours(palette.accent, wall, 0.45),
  );
  const cornice = box(
    left - size * 0.2,
    top - size * 0.4,
    wide + size * 0.4,
    size * 0.5,
    mixColours(wall, palette.light, 0.18),
  );
  return box(left, top, wide, foot - top, wall) + cornice + panes.join("") + shop + awning;
}

function drawRoad({ canvas, palette, createId, weather }: SceneParts, [x, y]: Point): string {
  const { width, height, unit, bleed } = canvas;
  const id = createId();
  const near = mixColours(palette.near, "#15161a", 0.4);
  const gradient = drawVerticalGradient(id, [
    [0, mixColours(palette.haze, palette.far, 0.5)],
    [0.3, mixColours(near, palette.far, 0.45)],
    [1, near],
  ]);
  const pavement = `<path d="M${round(x - unit * 8)} ${round(y)}L${round(x + unit * 8)} ${round(y)}L${width + bleed} ${round(height * 0.86)}L${width + bleed} ${height + 2}L${-bleed} ${height + 2}L${-bleed} ${round(height * 0.86)}Z" fill="url(#${id})"/>`;
  const lane = `<path d="M${round(x - unit)} ${round(y)}L${round(x + unit)} ${round(y)}L${round(width * 0.86)} ${height + 2}L${round(width * 0.14)} ${height + 2}Z" fill="${palette.light}" fill-opacity="${weather === "rain" ? 0.2 : 0.09}"/>`;
  return `<defs>${gradient}</defs>${pavement}${lane}`;
}

function drawLamps(parts: SceneParts, [x, y]: Point): string {
  const { canvas, palette } = parts;
  const { unit, width, height } = canvas;
  const ink = mixColours(palette.near, "#0b0b10", 0.5);
  const lit = mixColours("#ffd79a", palette.light, 0.3);
  return [0.18, 0.42, 0.8]
    .flatMap((share) =>
      ([-1, 1] as const).map((side) => {
        const foot: Point = [x + side * (unit * 6 + width * 0.36 * share), y + unit * 2 + height * 0.22 * share];
        const tall = unit * 13 + height * 0.34 * share;
        const head: Point = [foot[0], foot[1] - tall];
        const thick = unit * (0.3 + 0.7 * share);
        const bulb = unit * (0.9 + 1.6 * share);
        const glow = drawGlow(parts, head, bulb * 9, lit, palette.isDark ? 0.7 : 0.12);
        return `${glow}${box(foot[0] - thick / 2, head[1], thick, tall, ink)}${box(head[0] - bulb, head[1] - bulb * 1.6, bulb * 2, bulb * 2, palette.isDark ? lit : mixColours(lit, ink, 0.4), bulb * 0.5)}`;
      }),
    )
    .join("");
}
