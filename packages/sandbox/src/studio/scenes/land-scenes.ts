import { mixColours } from "./colour.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { drawClouds, drawMoon, drawSky, drawSun } from "./scene-elements.ts";
import { chooseWeather, drawCast } from "./scene-staging.ts";
import type { Subject } from "./subject-table.ts";
import {
  createSwell,
  drawArea,
  drawCircle,
  drawVerticalGradient,
  findHeight,
  type Point,
  round,
} from "./svg-shapes.ts";

/** Dunes with a lit and a shaded side. */
export function drawDesert(parts: SceneParts): Scene {
  const { canvas, palette, random } = parts;
  const { width, height, unit } = canvas;
  const sun: Point = [width * random.between(0.22, 0.78), height * random.between(0.2, 0.34)];
  const dunes = Array.from({ length: 5 }, (_, index): SceneLayer => {
    const share = index / 4;
    const y = height * (0.55 + 0.33 * share);
    const line = createSwell(canvas, random.fork(`dune-${index}`), {
      y,
      amplitude: unit * (3 + 4.5 * share),
      waves: 1.5 - 0.7 * share,
    });
    const id = parts.createId();
    const lit = mixColours(palette.haze, palette.far, 0.25 + 0.6 * share);
    const gradient = drawVerticalGradient(id, [
      [0, mixColours(lit, palette.light, 0.22)],
      [0.4, lit],
      [1, mixColours(lit, palette.near, 0.35)],
    ]);
    const shade = line.map(
      ([x, level]): Point => [x + unit * 5, level + unit * (3 + 4 * share) + Math.max(0, level - y) * 1.8],
    );
    const shadow = `<path d="M${[...line, ...shade.toReversed()].map(([x, level]) => `${round(x)} ${round(level)}`).join("L")}Z" fill="${mixColours(lit, palette.near, 0.45)}" fill-opacity="0.38"/>`;
    return {
      svg: `<defs>${gradient}</defs>${drawArea(line, height + 2, `url(#${id})`)}${shadow}`,
      depth: 0.12 + 0.7 * share,
    };
  });
  const fallback = random.chance(0.5) ? "balloon" : "birds";
  return {
    layers: [
      drawSky(parts, 0.6),
      palette.isDark ? drawMoon(parts, sun, unit * 5) : drawSun(parts, sun, unit * 7),
      drawClouds(parts, { from: height * 0.1, to: height * 0.36, count: 3, opacity: 0.3 }),
      ...dunes.slice(0, 3),
      ...dunes.slice(3),
      ...drawCast(parts, { ground: height * 0.85, fallback }),
    ],
    particles: chooseWeather(parts) ?? { kind: "dust", count: 50, colour: palette.light },
    sound: "wind",
  };
}

/** Hills of grass with trees and flowers. */
export function drawMeadow(parts: SceneParts): Scene {
  const { canvas, palette, random } = parts;
  const { width, height, unit } = canvas;
  const grass = mixColours(mixColours("#6f9f52", palette.far, 0.35), palette.sky[3], 0.12);
  const hills = Array.from({ length: 4 }, (_, index) => {
    const share = index / 3;
    const y = height * (0.58 + 0.24 * share);
    const line = createSwell(canvas, random.fork(`hill-${index}`), {
      y,
      amplitude: unit * (3.4 - share),
      waves: 1.5 - 0.3 * share,
    });
    const fill = mixColours(mixColours(grass, palette.haze, 0.6 * (1 - share)), palette.near, 0.1 + 0.35 * share);
    const id = parts.createId();
    const gradient = drawVerticalGradient(id, [
      [0, mixColours(fill, palette.light, 0.25)],
      [0.5, fill],
      [1, mixColours(fill, palette.near, 0.25)],
    ]);
    const bushes = Array.from({ length: 13 - 3 * index }, () => {
      const x = random.between(-canvas.bleed, width + canvas.bleed);
      return drawBush(
        parts,
        [x, findHeight(line, x)],
        unit * random.between(1.6, 3.4) * (0.7 + share),
        mixColours(fill, palette.near, 0.4),
      );
    });
    const svg = `<defs>${gradient}</defs>${bushes.join("")}${drawArea(line, height + 2, `url(#${id})`)}`;
    return { svg, line, depth: 0.15 + 0.55 * share };
  });
  const x = width * random.between(0.56, 0.7);
  const fallback = random.pick<Subject>(["house", "tree", "balloon"]);
  const ground = findHeight(hills[2]?.line ?? [], x) + unit * 3;
  return {
    layers: [
      drawSky(parts, 0.66),
      palette.isDark
        ? drawMoon(parts, [width * 0.3, height * 0.2], unit * 5)
        : drawSun(parts, [width * random.between(0.18, 0.4), height * 0.2], unit * 5),
      drawClouds(parts, { from: height * 0.1, to: height * 0.46, count: 9, opacity: palette.isDark ? 0.25 : 0.85 }),
      ...hills.slice(0, 3),
      ...hills.slice(3),
      ...drawCast(parts, { ground, x, fallback }),
      { svg: drawFlowers(parts), depth: 0.95 },
    ],
    particles: chooseWeather(parts) ?? { kind: "petals", count: 22, colour: palette.accent },
    sound: "wind",
  };
}

function drawBush({ random }: SceneParts, [x, y]: Point, size: number, fill: string): string {
  return Array.from({ length: 5 }, () =>
    drawCircle(
      [x + random.between(-0.9, 0.9) * size, y - random.between(0, 0.9) * size],
      size * random.between(0.4, 0.8),
      fill,
    ),
  ).join("");
}

function drawFlowers({ canvas, palette, random }: SceneParts): string {
  const { width, height, bleed, unit } = canvas;
  const colours = [
    palette.accent,
    mixColours(palette.accent, "#ffffff", 0.55),
    "#f7e08b",
    mixColours(palette.accent, "#8a6cf0", 0.5),
  ] as const;
  const blades = Array.from({ length: 230 }, () => {
    const x = random.between(-bleed, width + bleed);
    const tall = unit * random.between(4, 12);
    const lean = unit * random.between(-2, 2);
    const fill = mixColours("#4d7a3c", palette.near, random.between(0.2, 0.75));
    return `<path d="M${round(x)} ${height + 2}Q${round(x)} ${round(height - tall * 0.6)} ${round(x + lean)} ${round(height - tall)}" stroke="${fill}" stroke-width="${round(unit * 0.35)}" fill="none"/>`;
  });
  const flowers = Array.from({ length: 54 }, () => {
    const x = random.between(-bleed, width + bleed);
    const y = height - unit * random.between(1, 13) * random.next();
    const size = unit * random.between(0.45, 1.1);
    const fill = random.pick(colours);
    const petals = [0, 1, 2, 3, 4].map((petal) => {
      const angle = (petal * 2 * Math.PI) / 5;
      return drawCircle([x + Math.cos(angle) * size, y + Math.sin(angle) * size * 0.8], size * 0.7, fill);
    });
    return petals.join("") + drawCircle([x, y], size * 0.5, "#ffe9a8");
  });
  return blades.join("") + flowers.join("");
}
