import { mixColours } from "./colour.ts";
import type { SceneLayer, SceneParts } from "./scene.ts";
import {
  createRidge,
  drawArea,
  drawBand,
  drawBlur,
  drawCircle,
  drawGlow,
  drawVerticalGradient,
  type Point,
  round,
} from "./svg-shapes.ts";

/** The sky to below the horizon, so that no gap shows. */
export function drawSky({ canvas, palette, createId }: SceneParts, horizon: number): SceneLayer {
  const id = createId();
  const [zenith, upper, lower, edge] = palette.sky;
  const gradient = drawVerticalGradient(id, [
    [0, zenith],
    [0.4 * horizon, upper],
    [0.78 * horizon, lower],
    [Math.min(1, horizon), edge],
  ]);
  return { svg: `<defs>${gradient}</defs>${drawBand(canvas, 0, canvas.height, `url(#${id})`)}`, depth: 0 };
}

export function drawSun(parts: SceneParts, centre: Point, radius: number): SceneLayer {
  const { palette } = parts;
  const disc = drawCircle(centre, radius, mixColours(palette.light, "#ffffff", 0.35));
  const glows =
    drawGlow(parts, centre, radius * 9, palette.light, 0.55) +
    drawGlow(parts, centre, radius * 3.2, palette.light, 0.7);
  return { svg: glows + disc, depth: 0.02 };
}

export function drawMoon(parts: SceneParts, centre: Point, radius: number): SceneLayer {
  const { palette, random } = parts;
  const [x, y] = centre;
  const spots = Array.from({ length: 9 }, () => {
    const angle = random.between(0, 2 * Math.PI);
    const reach = Math.sqrt(random.next()) * radius * 0.72;
    const place: Point = [x + Math.cos(angle) * reach, y + Math.sin(angle) * reach];
    return drawCircle(
      place,
      radius * random.between(0.06, 0.22),
      mixColours(palette.light, palette.far, 0.5),
      'fill-opacity="0.28"',
    );
  });
  const disc = drawCircle(centre, radius, mixColours(palette.light, "#ffffff", 0.2));
  return { svg: drawGlow(parts, centre, radius * 5, palette.light, 0.5) + disc + spots.join(""), depth: 0.02 };
}

/** Clouds: heaps of soft ellipses with a flat base, lit from above. */
export function drawClouds(parts: SceneParts, { from, to, count, opacity }: CloudPlan): SceneLayer {
  const { canvas, palette, random, createId } = parts;
  const blurId = createId();
  const clouds = Array.from({ length: count }, () => {
    const middle = random.between(-canvas.bleed, canvas.width + canvas.bleed);
    const y = random.between(from, to);
    const size = canvas.unit * random.between(7, 17) * (0.6 + (y - from) / Math.max(1, to - from));
    return drawCloud(parts, [middle, y], size);
  });
  const blur = drawBlur(blurId, canvas.unit * 1.1);
  const light = mixColours(palette.light, palette.sky[3], 0.25);
  const svg = `<defs>${blur}</defs><g fill="${light}" opacity="${opacity}" filter="url(#${blurId})">${clouds.join("")}</g>`;
  return { svg, depth: 0.05, motion: { kind: "drift", unitsPerSecond: 0.9 } };
}

type CloudPlan = { from: number; to: number; count: number; opacity: number };

function drawCloud({ random }: SceneParts, [x, y]: Point, size: number): string {
  return Array.from({ length: random.whole(7, 12) }, () => {
    const across = random.between(-1, 1);
    const lift = (1 - across * across) * random.between(0, 0.38);
    const radius = size * random.between(0.22, 0.5) * (1.15 - Math.abs(across));
    return `<ellipse cx="${round(x + across * size * 1.7)}" cy="${round(y - lift * size)}" rx="${round(radius * 1.7)}" ry="${round(radius * 0.52)}" fill-opacity="${round(random.between(0.35, 0.8))}"/>`;
  }).join("");
}

export function drawStars(
  parts: SceneParts,
  { count, bottom, phase }: { count: number; bottom: number; phase: number },
): SceneLayer {
  const { canvas, palette, random } = parts;
  const stars = Array.from({ length: count }, () => {
    const place: Point = [random.between(-canvas.bleed, canvas.width + canvas.bleed), bottom * random.next() ** 1.25];
    const radius = canvas.unit * (0.06 + 0.26 * random.next() ** 6);
    return drawCircle(place, radius, palette.light, `fill-opacity="${round(random.between(0.35, 1))}"`);
  });
  const motion = { kind: "twinkle", periodSeconds: 2.6 + phase, phase, opacityMin: 0.45 } as const;
  return { svg: stars.join(""), depth: 0.01, motion };
}

/** Mountains in haze: each chain is darker and nearer than the one behind it. */
export function drawRidges(
  parts: SceneParts,
  { from, to, count, amplitude, roughness, hasSnow }: RidgePlan,
): (SceneLayer & { line: readonly Point[] })[] {
  const { canvas, palette, random, createId } = parts;
  return Array.from({ length: count }, (_, index) => {
    const share = count === 1 ? 1 : index / (count - 1);
    const y = from + (to - from) * share ** 0.9;
    const line = createRidge(canvas, random.fork(`ridge-${index}`), {
      y,
      amplitude: amplitude * (1 - 0.35 * share),
      roughness,
    });
    const top = mixColours(mixColours(palette.haze, palette.far, 0.55), palette.near, share * 0.96);
    const foot = mixColours(top, palette.haze, 0.62 * (1 - share * 0.75));
    const id = createId();
    const gradient = drawVerticalGradient(id, [
      [0, top],
      [0.35, mixColours(top, foot, 0.35)],
      [1, foot],
    ]);
    const snow = hasSnow && share < 0.75 ? drawSnowCaps(parts, line, y, share) : "";
    const svg = `<defs>${gradient}</defs>${drawArea(line, canvas.height + 2, `url(#${id})`)}${snow}`;
    return { svg, line, depth: 0.1 + 0.5 * share };
  });
}

type RidgePlan = { from: number; to: number; count: number; amplitude: number; roughness: number; hasSnow: boolean };

/** Snow above the snow line, with a ragged edge. */
function drawSnowCaps(
  { canvas, palette, random }: SceneParts,
  line: readonly Point[],
  y: number,
  share: number,
): string {
  const snowLine = y - canvas.unit * 1.5;
  const lower = line.map(([x, height], index) => {
    const reach = Math.max(0, snowLine - height) * (index % 2 === 0 ? 0.75 : 0.4) * random.between(0.6, 1.1);
    return [x, height + reach] as const;
  });
  const outline = [...line, ...lower.toReversed()].map(([x, height]) => `${round(x)} ${round(height)}`).join("L");
  return `<path d="M${outline}Z" fill="${mixColours(palette.light, palette.haze, 0.25 + share * 0.4)}" fill-opacity="0.85"/>`;
}

/** A fir: tiers of branches that hang a little, each wider than the one above. */
export function drawFir({ random }: SceneParts, [x, y]: Point, height: number, fill: string): string {
  const half = height * random.between(0.15, 0.21);
  const tiers = 6;
  const right: string[] = [];
  const left: string[] = [];
  for (let tier = 1; tier <= tiers; tier += 1) {
    const share = tier / tiers;
    const reach = half * share * random.between(0.85, 1.15);
    const level = y - height * (1 - share * 0.93);
    right.push(`${round(x + reach)} ${round(level)}L${round(x + reach * 0.5)} ${round(level - height * 0.035)}`);
    left.unshift(`${round(x - reach * 0.5)} ${round(level - height * 0.035)}L${round(x - reach)} ${round(level)}`);
  }
  const trunk = `<rect x="${round(x - height * 0.012)}" y="${round(y - height * 0.09)}" width="${round(height * 0.024)}" height="${round(height * 0.11)}" fill="${fill}"/>`;
  return `${trunk}<path d="M${round(x)} ${round(y - height)}L${right.join("L")}L${left.join("L")}Z" fill="${fill}"/>`;
}

/** Mist in front of the layers behind it. */
export function drawMist(
  { canvas, palette, createId }: SceneParts,
  top: number,
  bottom: number,
  opacity: number,
): SceneLayer {
  const id = createId();
  const gradient = drawVerticalGradient(id, [
    [0, palette.haze, 0],
    [0.55, palette.haze, opacity],
    [1, palette.haze, 0],
  ]);
  return {
    svg: `<defs>${gradient}</defs>${drawBand(canvas, top, bottom, `url(#${id})`)}`,
    depth: 0.2,
    motion: { kind: "drift", unitsPerSecond: 1.4 },
  };
}

/** A lake or a wet street: the sky upside down, with lines of light. */
export function drawWater(parts: SceneParts, top: number, lightX: number): SceneLayer[] {
  const { canvas, palette, random, createId } = parts;
  const id = createId();
  const bottom = canvas.height;
  const gradient = drawVerticalGradient(id, [
    [0, mixColours(palette.sky[3], palette.far, 0.18)],
    [0.3, mixColours(palette.sky[2], palette.far, 0.32)],
    [1, mixColours(palette.sky[0], palette.near, 0.45)],
  ]);
  const glints = Array.from({ length: 150 }, () => {
    const share = random.next() ** 1.4;
    const y = top + (bottom - top) * share;
    const spread = canvas.unit * (3 + 26 * share);
    const x = lightX + (random.next() + random.next() - 1) * spread;
    const length = canvas.unit * (0.6 + 5 * share) * random.between(0.5, 1.2);
    return `<ellipse cx="${round(x)}" cy="${round(y)}" rx="${round(length)}" ry="${round(canvas.unit * (0.1 + 0.3 * share))}" fill-opacity="${round(random.between(0.25, 0.85) * (1 - share * 0.6))}"/>`;
  });
  const streaks = Array.from({ length: 46 }, () => {
    const share = random.next();
    const y = top + (bottom - top) * share;
    const x = random.between(-canvas.bleed, canvas.width + canvas.bleed);
    return `<ellipse cx="${round(x)}" cy="${round(y)}" rx="${round(canvas.unit * random.between(3, 16) * (0.3 + share))}" ry="${round(canvas.unit * (0.06 + 0.2 * share))}" fill-opacity="${round(random.between(0.06, 0.22))}"/>`;
  });
  return [
    { svg: `<defs>${gradient}</defs>${drawBand(canvas, top, bottom, `url(#${id})`)}`, depth: 0.04 },
    {
      svg: `<g fill="${palette.light}">${glints.join("")}${streaks.join("")}</g>`,
      depth: 0.06,
      motion: { kind: "ripple", units: 1.1, periodSeconds: 2.4 },
    },
  ];
}
