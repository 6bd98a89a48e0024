import { mixColours } from "./colour.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { drawClouds, drawMist, drawMoon, drawSky, drawStars, drawSun } from "./scene-elements.ts";
import { drawCast } from "./scene-staging.ts";
import { drawBand, drawBlur, drawCircle, drawGlow, drawVerticalGradient, type Point, round } from "./svg-shapes.ts";

/** Towers with lit windows, mirrored in a river. */
export function drawCity(parts: SceneParts): Scene {
  const { canvas, palette, random, weather } = parts;
  const { width, height, unit } = canvas;
  const shore = height * 0.8;
  const light: Point = [width * random.between(0.25, 0.75), height * random.between(0.26, 0.42)];
  const rows = [0, 0.5, 1].map((share) => drawTowers(parts, share, shore));
  const front = rows.at(-1) ?? "";
  const id = parts.createId();
  const river = drawVerticalGradient(id, [
    [0, mixColours(palette.near, palette.sky[2], 0.55)],
    [1, mixColours(palette.near, palette.sky[0], 0.3)],
  ]);
  const mirror = `<g transform="translate(0 ${round(shore * 2)}) scale(1 -1)" opacity="0.42">${front}</g>`;
  const cover = drawVerticalGradient(`${id}c`, [
    [0, palette.near, 0],
    [1, palette.near, 0.75],
  ]);
  const cast = drawCast(parts, { ground: height * 0.9 });
  const quay = { svg: drawBand(canvas, height * 0.885, height + 2, palette.near), depth: 0.55 };
  return {
    layers: [
      drawSky(parts, 0.8),
      ...(palette.isDark ? [drawStars(parts, { count: 160, bottom: height * 0.5, phase: 0.5 })] : []),
      palette.isDark ? drawMoon(parts, light, unit * 7) : drawSun(parts, light, unit * 8),
      drawClouds(parts, { from: height * 0.1, to: height * 0.5, count: 6, opacity: palette.isDark ? 0.16 : 0.5 }),
      { svg: rows[0] ?? "", depth: 0.12 },
      drawMist(parts, height * 0.42, height * 0.84, 0.55),
      { svg: rows[1] ?? "", depth: 0.3 },
      drawMist(parts, height * 0.55, height * 0.9, 0.35),
      { svg: front, depth: 0.55 },
      { svg: `<defs>${river}</defs>${drawBand(canvas, shore, height + 2, `url(#${id})`)}`, depth: 0.55 },
      { svg: mirror, depth: 0.55, motion: { kind: "ripple", units: 0.9, periodSeconds: 2.2 } },
      { svg: `<defs>${cover}</defs>${drawBand(canvas, shore, height + 2, `url(#${id}c)`)}`, depth: 0.55 },
      ...(cast.length === 0 ? [] : [quay, ...cast]),
    ],
    particles: weather === null ? null : { kind: weather, count: 180, colour: palette.light },
    sound: weather === "rain" ? "rain" : "city",
  };
}

function drawTowers(parts: SceneParts, share: number, shore: number): string {
  const { canvas, palette, random } = parts;
  const { width, bleed, unit, height } = canvas;
  const wall = mixColours(mixColours(palette.haze, palette.far, 0.45), palette.near, share * 0.93);
  const towers: string[] = [];
  for (let x = -bleed; x < width + bleed; ) {
    const wide = unit * random.between(5, 11) * (0.7 + 0.5 * share);
    const hill = 1 - Math.abs((x + wide / 2) / width - 0.5) * (0.7 + share * 0.5);
    const tall = height * random.between(0.16, 0.44) * hill * (1.08 - 0.18 * share);
    towers.push(drawTower(parts, { x, wide, tall, shore, wall, share }));
    x += wide * random.between(0.92, 1.25);
  }
  return towers.join("");
}

type Tower = { x: number; wide: number; tall: number; shore: number; wall: string; share: number };

function drawTower({ canvas, palette, random }: SceneParts, { x, wide, tall, shore, wall, share }: Tower): string {
  const { unit } = canvas;
  const top = shore - tall;
  const box = (left: number, upper: number, across: number, fill: string): string =>
    `<rect x="${round(left)}" y="${round(upper)}" width="${round(across)}" height="${round(shore - upper + 1)}" fill="${fill}"/>`;
  const parts = [box(x, top, wide, wall)];
  const style = random.whole(0, 3);
  if (style === 0) parts.push(box(x + wide * 0.25, top - unit * 3, wide * 0.5, wall));
  if (style === 1)
    parts.push(
      `<path d="M${round(x)} ${round(top)}L${round(x + wide / 2)} ${round(top - unit * 4)}L${round(x + wide)} ${round(top)}Z" fill="${wall}"/>`,
    );
  if (style === 2) parts.push(box(x + wide * 0.46, top - unit * 6, unit * 0.35, wall));
  parts.push(box(x + wide * 0.72, top, wide * 0.28, mixColours(wall, palette.near, 0.35)));
  const step = unit * (1.25 + 0.5 * share);
  const glass = mixColours(palette.accent, palette.light, 0.4);
  const panes: string[] = [];
  const litShare = palette.isDark ? 0.46 : 0.22;
  for (let level = top + step; level < shore - step; level += step) {
    for (let left = x + step * 0.6; left < x + wide - step * 0.8; left += step) {
      if (!random.chance(litShare)) continue;
      panes.push(
        `<rect x="${round(left)}" y="${round(level)}" width="${round(step * 0.5)}" height="${round(step * 0.52)}" fill-opacity="${round(random.between(0.35, 1) * (0.45 + 0.55 * share))}"/>`,
      );
    }
  }
  return `${parts.join("")}<g fill="${glass}">${panes.join("")}</g>`;
}

/** Tall trunks in the mist, with light between them. */
export function drawForest(parts: SceneParts): Scene {
  const { canvas, palette, random, weather } = parts;
  const { width, height, unit, bleed } = canvas;
  const id = parts.createId();
  const green = mixColours(palette.far, "#5f8f6a", 0.4);
  const pale = mixColours(mixColours(palette.sky[3], palette.light, 0.35), green, palette.isDark ? 0.35 : 0.12);
  const air = drawVerticalGradient(id, [
    [0, mixColours(pale, green, 0.6)],
    [0.5, pale],
    [1, mixColours(pale, green, 0.75)],
  ]);
  const lightX = width * random.between(0.35, 0.65);
  const rows = [0, 0.34, 0.67, 1].map((share): SceneLayer => {
    const bark = mixColours(mixColours(pale, green, 0.42), mixColours(palette.near, "#0d1a14", 0.4), share * 0.95);
    return { svg: drawTrunks(parts, share, bark), depth: 0.1 + 0.85 * share };
  });
  const floor = drawVerticalGradient(`${id}f`, [
    [0, mixColours(green, palette.near, 0.5), 0],
    [0.35, mixColours(green, palette.near, 0.6), 0.85],
    [1, mixColours(palette.near, "#0d1a14", 0.5)],
  ]);
  return {
    layers: [
      {
        svg: `<defs>${air}</defs>${drawBand(canvas, 0, height, `url(#${id})`)}${drawGlow(parts, [lightX, height * 0.36], unit * 60, palette.light, 0.85)}`,
        depth: 0,
      },
      ...rows.slice(0, 2),
      {
        svg: drawShafts(parts, lightX),
        depth: 0.15,
        motion: { kind: "twinkle", periodSeconds: 4.5, phase: 0, opacityMin: 0.55 },
      },
      ...rows.slice(2, 3),
      {
        svg: `<defs>${floor}</defs><rect x="${-bleed}" y="${round(height * 0.78)}" width="${width + 2 * bleed}" height="${round(height * 0.22 + 2)}" fill="url(#${id}f)"/>`,
        depth: 0.5,
      },
      ...drawCast(parts, { ground: height * 0.9, x: lightX }),
      ...rows.slice(3),
      { svg: drawFerns(parts), depth: 1 },
    ],
    particles:
      weather === null
        ? { kind: "fireflies", count: 34, colour: mixColours(palette.light, palette.accent, 0.4) }
        : { kind: weather, count: 150, colour: palette.light },
    sound: weather === "rain" ? "rain" : "wind",
  };
}

function drawTrunks({ canvas, random }: SceneParts, share: number, bark: string): string {
  const { width, height, unit, bleed } = canvas;
  const trunks: string[] = [];
  const foot = height * (0.8 + 0.24 * share);
  const gap = unit * (5 + 17 * share);
  for (let x = -bleed + gap * random.next(); x < width + bleed; x += gap * random.between(0.6, 1.6)) {
    // A clearing in the middle gives the forest depth.
    if (share > 0.9 && Math.abs(x / width - 0.5) < 0.2) continue;
    const wide = unit * (0.8 + 4.6 * share ** 1.4) * random.between(0.7, 1.25);
    const lean = unit * random.between(-2, 2);
    trunks.push(
      `<path d="M${round(x - wide * 0.75)} ${round(foot)}Q${round(x - wide * 0.42)} ${round(foot - height * 0.1)} ${round(x + lean - wide * 0.3)} -2L${round(x + lean + wide * 0.3)} -2Q${round(x + wide * 0.42)} ${round(foot - height * 0.1)} ${round(x + wide * 0.75)} ${round(foot)}Z" fill="${bark}"/>`,
    );
    for (let branch = 0; branch < 4; branch += 1) {
      const y = height * random.between(0.02, 0.5);
      const side = random.pick([-1, 1]);
      const reach = unit * random.between(4, 12) * (0.5 + 0.7 * share);
      trunks.push(
        `<path d="M${round(x + lean * 0.5)} ${round(y)}Q${round(x + side * reach * 0.5)} ${round(y - reach * 0.1)} ${round(x + side * reach)} ${round(y - reach * 0.5)}" stroke="${bark}" stroke-width="${round(wide * 0.13)}" fill="none"/>`,
      );
    }
  }
  const leaves = Array.from({ length: 420 }, () => {
    const x = random.between(-bleed, width + bleed);
    const y = height * (random.next() ** 1.8 * (0.2 + 0.14 * Math.sin(x / (unit * 17) + share * 9)) - 0.03);
    const size = unit * random.between(0.7, 2.1) * (0.6 + 0.7 * share);
    return drawCircle([x, y], size, bark, `fill-opacity="${round(random.between(0.35, 0.9))}"`);
  });
  return trunks.join("") + leaves.join("");
}

function drawShafts({ canvas, palette, random, createId }: SceneParts, lightX: number): string {
  const { height, unit } = canvas;
  const [id, blurId] = [createId(), createId()];
  const gradient = drawVerticalGradient(id, [
    [0, palette.light, 0.62],
    [1, palette.light, 0],
  ]);
  const shafts = Array.from({ length: 7 }, () => {
    const top = lightX + unit * random.between(-30, 30);
    const wide = unit * random.between(2, 6);
    const slant = unit * random.between(8, 22);
    return `<path d="M${round(top)} -4L${round(top + wide)} -4L${round(top + wide * 2.2 - slant)} ${round(height * 0.9)}L${round(top - slant)} ${round(height * 0.9)}Z" fill="url(#${id})" fill-opacity="${round(random.between(0.3, 0.8))}"/>`;
  });
  return `<defs>${gradient}${drawBlur(blurId, unit * 1.2)}</defs><g filter="url(#${blurId})">${shafts.join("")}</g>`;
}

function drawFerns({ canvas, palette, random }: SceneParts): string {
  const { width, height, unit, bleed } = canvas;
  const ferns: string[] = [];
  for (let x = -bleed; x < width + bleed; x += unit * random.between(3, 8)) {
    const edge = Math.min(1, Math.abs(x / width - 0.5) * 2);
    const fill = mixColours(mixColours(palette.near, "#0d1f16", 0.5), palette.far, random.between(0, 0.16));
    for (let frond = 0; frond < 5; frond += 1) {
      const angle = random.between(0.25, Math.PI - 0.25);
      const reach = unit * random.between(4, 11) * (0.45 + edge);
      const tip: Point = [x + Math.cos(angle) * reach, height + unit - Math.sin(angle) * reach];
      const bend: Point = [x + Math.cos(angle) * reach * 0.3, height + unit - Math.sin(angle) * reach * 0.75];
      ferns.push(
        `<path d="M${round(x)} ${height + 2}Q${round(bend[0])} ${round(bend[1])} ${round(tip[0])} ${round(tip[1])}Q${round(bend[0] + unit * 1.3)} ${round(bend[1] + unit * 1.3)} ${round(x + unit)} ${height + 2}Z" fill="${fill}"/>`,
      );
    }
  }
  return ferns.join("");
}
