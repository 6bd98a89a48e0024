import { mixColours } from "./colour.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import {
  drawClouds,
  drawMist,
  drawMoon,
  drawRidges,
  drawSky,
  drawStars,
  drawSun,
  drawWater,
} from "./scene-elements.ts";
import { chooseWeather, drawCast, drawFirs } from "./scene-staging.ts";
import { describeSubject, type Subject } from "./subject-table.ts";
import { createRidge, createSwell, drawArea, drawVerticalGradient, type Point, round } from "./svg-shapes.ts";

/** Chains of mountains, a lake where there is room, and a forest in front. */
export function drawMountains(parts: SceneParts): Scene {
  const { canvas, palette, random } = parts;
  const { width, height, unit } = canvas;
  const sunX = width * random.between(0.25, 0.75);
  const sun: Point = [sunX, height * random.between(0.2, 0.36)];
  const hasLake = random.chance(0.55);
  const hasSnow = parts.weather === "snow" || random.chance(0.5);
  const ridges = drawRidges(parts, {
    from: height * 0.48,
    to: height * (hasLake ? 0.68 : 0.84),
    count: hasLake ? 4 : 5,
    amplitude: height * 0.13,
    roughness: 0.52,
    hasSnow,
  });
  const shore = height * 0.72;
  const ground = createRidge(canvas, random.fork("ground"), {
    y: height * 0.93,
    amplitude: height * 0.035,
    roughness: 0.55,
  });
  const ink = mixColours(palette.near, "#000000", 0.15);
  const forest = drawFirs(parts, ground, { fill: ink, heightMin: unit * 9, heightMax: unit * 24, stride: unit * 5.5 });
  return {
    layers: [
      drawSky(parts, 0.62),
      ...(palette.isDark ? [drawStars(parts, { count: 240, bottom: height * 0.5, phase: 0.4 })] : []),
      palette.isDark ? drawMoon(parts, sun, unit * 5.5) : drawSun(parts, sun, unit * 5),
      drawClouds(parts, { from: height * 0.12, to: height * 0.42, count: 7, opacity: palette.isDark ? 0.2 : 0.6 }),
      ...ridges.slice(0, 2),
      drawMist(parts, height * 0.5, height * 0.74, 0.5),
      ...ridges.slice(2),
      ...(hasLake ? [...drawWater(parts, shore, sunX), ...drawShore(parts, shore)] : []),
      { svg: forest + drawArea(ground, height + 2, ink), depth: 0.9 },
      ...drawCast(parts, { ground: height * 0.9 }),
    ],
    particles: chooseWeather(parts),
    sound: "wind",
  };
}

function drawShore(parts: SceneParts, y: number): SceneLayer[] {
  const { canvas, palette, random } = parts;
  const line = createRidge(canvas, random.fork("shore"), {
    y: y - canvas.unit * 0.6,
    amplitude: canvas.unit * 0.9,
    roughness: 0.6,
  });
  const fill = mixColours(palette.far, palette.near, 0.8);
  const firs = drawFirs(parts, line, {
    fill,
    heightMin: canvas.unit * 2,
    heightMax: canvas.unit * 5.5,
    stride: canvas.unit * 1.7,
  });
  return [{ svg: firs + drawArea(line, y + canvas.unit * 0.6, fill), depth: 0.5 }];
}

/** Open water under a wide sky. */
export function drawSea(parts: SceneParts): Scene {
  const { canvas, palette, random, subjects } = parts;
  const { width, height, unit } = canvas;
  const horizon = height * random.between(0.46, 0.56);
  const sunX = width * random.between(0.3, 0.7);
  const sun: Point = [sunX, horizon - height * random.between(0.07, 0.2)];
  const fallback = random.pick<Subject>(["boat", "birds", "lighthouse", "boat"]);
  const subject = subjects[0] ?? fallback;
  const waves = Array.from({ length: 5 }, (_, index): SceneLayer => {
    const share = (index + 1) / 5;
    const y = horizon + (height - horizon) * (0.12 + 0.8 * share ** 1.35);
    const line = createSwell(canvas, random.fork(`wave-${index}`), {
      y,
      amplitude: unit * (0.5 + 1.9 * share),
      waves: 5 - 2.6 * share,
    });
    const id = parts.createId();
    const body = mixColours(mixColours(palette.sky[2], palette.far, 0.5), palette.near, 0.25 + 0.6 * share);
    const gradient = drawVerticalGradient(id, [
      [0, mixColours(body, palette.light, 0.34), 0.62],
      [0.1, mixColours(body, palette.light, 0.08), 0.6],
      [0.5, body, 0.8],
      [1, mixColours(body, palette.near, 0.4), 0.95],
    ]);
    const crest = `<path d="M${line.map(([x, level]) => `${round(x)} ${round(level)}`).join("L")}" stroke="${mixColours(palette.light, body, 0.2)}" stroke-width="${round(unit * 0.22 * share)}" stroke-opacity="0.35" fill="none"/>`;
    const motion = { kind: "bob", units: 0.5 + 1.1 * share, periodSeconds: 3.2 + share, phase: index * 1.3 } as const;
    return {
      svg: `<defs>${gradient}</defs>${drawArea(line, height + unit * 6, `url(#${id})`)}${crest}`,
      depth: 0.15 + 0.75 * share,
      motion,
    };
  });
  const { on } = describeSubject(subject);
  const x = width * (sunX < width / 2 ? 0.66 : 0.32);
  const ground = on === "water" ? horizon + (height - horizon) * 0.42 : horizon + unit * 8;
  const [cast] = drawCast(parts, { ground, x, fallback });
  const thing: SceneLayer = {
    svg: (on === "ground" || on === "land" || on === "table" ? drawCliff(parts, [x, ground]) : "") + (cast?.svg ?? ""),
    depth: 0.3,
    ...(on === "water" ? { motion: { kind: "bob", units: 1.2, periodSeconds: 3.6, phase: 0.6 } as const } : {}),
  };
  return {
    layers: [
      drawSky(parts, horizon / height),
      ...(palette.isDark ? [drawStars(parts, { count: 200, bottom: horizon * 0.8, phase: 0.2 })] : []),
      palette.isDark ? drawMoon(parts, sun, unit * 5) : drawSun(parts, sun, unit * 5.5),
      drawClouds(parts, {
        from: height * 0.08,
        to: horizon - unit * 6,
        count: 8,
        opacity: palette.isDark ? 0.2 : 0.65,
      }),
      ...drawWater(parts, horizon, sunX),
      ...waves.slice(0, 2),
      thing,
      ...waves.slice(2),
    ],
    particles: chooseWeather(parts),
    sound: "surf",
  };
}

function drawCliff({ canvas, palette, random }: SceneParts, [x, y]: Point): string {
  const { unit } = canvas;
  const toRight = x > canvas.width / 2;
  const edge = toRight ? canvas.width + canvas.bleed : -canvas.bleed;
  const sign = toRight ? 1 : -1;
  const points: Point[] = [[x - sign * unit * 16, y + unit * 9]];
  for (let step = 0; step <= 10; step += 1) {
    const share = step / 10;
    points.push([
      x - sign * unit * 14 * (1 - share) ** 1.5,
      y + unit * 8 * (1 - share) ** 2 + random.between(-0.4, 0.4) * unit,
    ]);
  }
  points.push([x + sign * unit * 9, y - unit], [edge, y - unit * 5], [edge, y + unit * 9]);
  return `<path d="M${points.map(([left, top]) => `${round(left)} ${round(top)}`).join("L")}Z" fill="${mixColours(palette.near, palette.far, 0.25)}"/>`;
}
