import { mixColours } from "./colour.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { drawMist, drawMoon, drawRidges, drawSky, drawStars } from "./scene-elements.ts";
import { chooseWeather, drawCast, drawFirs } from "./scene-staging.ts";
import type { Subject } from "./subject-table.ts";
import {
  createRidge,
  createSwell,
  drawArea,
  drawBlur,
  drawCircle,
  drawRadialGradient,
  drawVerticalGradient,
  findHeight,
  type Point,
  round,
} from "./svg-shapes.ts";

/** Stars, the Milky Way or northern lights, over black hills. */
export function drawNight(parts: SceneParts): Scene {
  const { canvas, palette, random } = parts;
  const { width, height, unit } = canvas;
  const hasAurora = parts.wishes.includes("aurora") || random.chance(0.35);
  const moon: Point = [width * random.between(0.62, 0.84), height * random.between(0.16, 0.28)];
  const ridges = drawRidges(parts, {
    from: height * 0.74,
    to: height * 0.84,
    count: 2,
    amplitude: height * 0.07,
    roughness: 0.5,
    hasSnow: false,
  });
  const ground = createRidge(canvas, random.fork("ground"), {
    y: height * 0.9,
    amplitude: height * 0.03,
    roughness: 0.5,
  });
  const ink = mixColours(palette.near, "#000000", 0.4);
  const x = width * random.between(0.32, 0.44);
  const fallback = random.pick<Subject>(["person", "tree", "house", "cat"]);
  const cast = drawCast(parts, { ground: findHeight(ground, x) + unit, x, scale: 1.1, fallback });
  return {
    layers: [
      drawSky(parts, 0.9),
      drawGalaxy(parts),
      drawStars(parts, { count: 420, bottom: height * 0.82, phase: 0.1 }),
      drawStars(parts, { count: 260, bottom: height * 0.82, phase: 1.7 }),
      ...(hasAurora ? drawAurora(parts) : [drawMoon(parts, moon, unit * 6)]),
      ...ridges,
      drawMist(parts, height * 0.72, height * 0.95, 0.35),
      ...cast,
      {
        svg:
          drawFirs(parts, ground, { fill: ink, heightMin: unit * 3, heightMax: unit * 20, stride: unit * 6 }) +
          drawArea(ground, height + 2, ink),
        depth: 0.9,
      },
    ],
    particles: chooseWeather(parts) ?? { kind: "fireflies", count: 26, colour: palette.accent },
    sound: "crickets",
  };
}

function drawGalaxy({ canvas, palette, random, createId }: SceneParts): SceneLayer {
  const { width, height, unit } = canvas;
  const blurId = createId();
  const middle: Point = [width * random.between(0.3, 0.6), height * 0.38];
  const turn = random.between(-60, -35);
  const reach = Math.hypot(width, height) * 0.62;
  const clouds = Array.from({ length: 90 }, () => {
    const along = random.between(-1, 1);
    const colour = random.chance(0.3)
      ? mixColours(palette.accent, palette.sky[2], 0.4)
      : mixColours(palette.light, palette.sky[3], 0.5);
    return `<ellipse cx="${round(along * reach)}" cy="${round((random.next() - 0.5) * unit * 12)}" rx="${round(unit * random.between(7, 20))}" ry="${round(unit * random.between(2, 7))}" fill="${colour}" fill-opacity="${round(random.between(0.03, 0.085))}"/>`;
  });
  const dust = Array.from({ length: 520 }, () => {
    const away = (random.next() + random.next() + random.next() - 1.5) * unit * 15;
    return drawCircle(
      [random.between(-1, 1) * reach, away],
      unit * random.between(0.04, 0.13),
      palette.light,
      `fill-opacity="${round(random.between(0.2, 0.8))}"`,
    );
  });
  const place = `translate(${round(middle[0])} ${round(middle[1])}) rotate(${round(turn)})`;
  return {
    svg: `<defs>${drawBlur(blurId, unit * 3)}</defs><g transform="${place}"><g filter="url(#${blurId})">${clouds.join("")}</g>${dust.join("")}</g>`,
    depth: 0.01,
  };
}

/** Curtains of light: one line, repeated upwards and fading. */
function drawAurora({ canvas, random, createId }: SceneParts): SceneLayer[] {
  const { height, unit } = canvas;
  const hues = random.chance(0.5) ? ["#5cf2b0", "#39c8d8", "#8a6cf0"] : ["#7df29a", "#e26bd0", "#5a8bf2"];
  return hues.map((colour, index): SceneLayer => {
    const line = createSwell(canvas, random.fork(`aurora-${index}`), {
      y: height * (0.5 - 0.08 * index),
      amplitude: unit * 6,
      waves: 1.2,
    });
    const id = createId();
    const blurId = createId();
    const gradient = drawVerticalGradient(id, [
      [0, colour, 0],
      [0.55, colour, 0.22],
      [0.93, colour, 0.62],
      [1, colour, 0],
    ]);
    const rays = line.map(([x, y]) => {
      const tall = unit * random.between(16, 44);
      return `<rect x="${round(x - unit * 1.6)}" y="${round(y - tall)}" width="${round(unit * 3.4)}" height="${round(tall)}" fill="url(#${id})"/>`;
    });
    return {
      svg: `<defs>${gradient}${drawBlur(blurId, unit * 1.1)}</defs><g filter="url(#${blurId})" opacity="0.75">${rays.join("")}</g>`,
      depth: 0.03 + index * 0.02,
      motion: { kind: "drift", unitsPerSecond: 1.1 - 0.8 * index },
    };
  });
}

/** A planet with rings between clouds of gas. */
export function drawSpace(parts: SceneParts): Scene {
  const { canvas, palette, random, createId } = parts;
  const { width, height, unit } = canvas;
  const blurId = createId();
  const gases = Array.from({ length: 16 }, () => {
    const colour = random.pick([palette.sky[2], palette.sky[3], palette.accent, palette.far]);
    return `<ellipse cx="${round(random.between(0, width))}" cy="${round(random.between(0, height))}" rx="${round(unit * random.between(14, 42))}" ry="${round(unit * random.between(7, 22))}" fill="${colour}" fill-opacity="${round(random.between(0.08, 0.24))}" transform="rotate(${random.whole(-30, 30)} ${round(width / 2)} ${round(height / 2)})"/>`;
  });
  const deep = mixColours(palette.near, "#02030a", 0.5);
  const backdrop = `<defs>${drawBlur(blurId, unit * 9)}</defs><rect x="${-canvas.bleed}" y="0" width="${width + 2 * canvas.bleed}" height="${height}" fill="${deep}"/><g filter="url(#${blurId})">${gases.join("")}</g>`;
  const centre: Point = [width * random.between(0.38, 0.62), height * random.between(0.4, 0.52)];
  const moon: Point = [centre[0] + unit * random.pick([-38, 36]), centre[1] - unit * random.between(14, 26)];
  const cast = drawCast(parts, {
    ground: height * 0.82,
    isFloating: true,
    x: width * (moon[0] < centre[0] ? 0.78 : 0.22),
  });
  return {
    layers: [
      { svg: backdrop, depth: 0 },
      drawStars(parts, { count: 380, bottom: height, phase: 0.3 }),
      drawStars(parts, { count: 220, bottom: height, phase: 1.9 }),
      {
        svg: drawGlobe(parts, moon, unit * random.between(4, 7), mixColours(palette.haze, palette.light, 0.4)),
        depth: 0.2,
      },
      { svg: drawPlanet(parts, centre, unit * random.between(19, 25)), depth: 0.42 },
      ...cast,
    ],
    particles: { kind: "dust", count: 40, colour: palette.light },
    sound: "air",
  };
}

function drawGlobe({ palette, createId }: SceneParts, centre: Point, radius: number, colour: string): string {
  const id = createId();
  const shading = drawRadialGradient(
    id,
    [
      [0, mixColours(colour, palette.light, 0.7)],
      [0.45, colour],
      [0.85, mixColours(colour, palette.near, 0.7)],
      [1, mixColours(colour, "#02030a", 0.9)],
    ],
    [0.32, 0.3],
  );
  return `<defs>${shading}</defs>${drawCircle(centre, radius, `url(#${id})`)}`;
}

function drawPlanet(parts: SceneParts, [x, y]: Point, radius: number): string {
  const { palette, random, createId } = parts;
  const body = random.pick([palette.accent, palette.sky[3], palette.haze]);
  const [clipId, shadeId, frontId] = [createId(), createId(), createId()];
  const bands = Array.from({ length: 13 }, (_, index) => {
    const level = y - radius + (2 * radius * (index + random.next() * 0.6)) / 13;
    const colour = mixColours(body, random.pick([palette.light, palette.near, palette.far]), random.between(0.1, 0.42));
    return `<ellipse cx="${round(x)}" cy="${round(level)}" rx="${round(radius * 1.2)}" ry="${round(radius * random.between(0.03, 0.1))}" fill="${colour}" fill-opacity="0.6"/>`;
  });
  const shade = drawRadialGradient(
    shadeId,
    [
      [0, "#ffffff", 0.28],
      [0.4, "#ffffff", 0],
      [0.72, "#02030a", 0.42],
      [1, "#02030a", 0.92],
    ],
    [0.3, 0.3],
  );
  const turn = `rotate(-16 ${round(x)} ${round(y)})`;
  const ring = (width: number, reach: number, opacity: number): string =>
    `<ellipse cx="${round(x)}" cy="${round(y)}" rx="${round(radius * reach)}" ry="${round(radius * reach * 0.24)}" fill="none" stroke="${mixColours(palette.light, body, 0.35)}" stroke-width="${round(radius * width)}" stroke-opacity="${opacity}"/>`;
  const rings = ring(0.1, 1.5, 0.5) + ring(0.16, 1.72, 0.75) + ring(0.03, 1.9, 0.6);
  const front = `<clipPath id="${frontId}"><rect x="${round(x - radius * 3)}" y="${round(y)}" width="${round(radius * 6)}" height="${round(radius * 2)}"/></clipPath>`;
  return `<defs><clipPath id="${clipId}">${drawCircle([x, y], radius, "#000")}</clipPath>${shade}${front}</defs><g transform="${turn}">${rings}<g clip-path="url(#${clipId})">${drawCircle([x, y], radius, body)}${bands.join("")}</g>${drawCircle([x, y], radius * 1.002, `url(#${shadeId})`)}<g clip-path="url(#${frontId})">${rings}</g></g>`;
}
