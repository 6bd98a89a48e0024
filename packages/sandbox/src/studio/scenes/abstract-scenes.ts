import { mixColours } from "./colour.ts";
import { drawSubjectPoster } from "./poster-scene.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { describeCurve, drawBand, drawCircle, drawVerticalGradient, type Point, round } from "./svg-shapes.ts";

/** Circles, quarters and bars on paper, like a Bauhaus poster; or the subject that the prompt names. */
export function drawPoster(parts: SceneParts): Scene {
  const { canvas, palette, random, subjects } = parts;
  if (subjects[0] !== undefined) return drawSubjectPoster(parts, subjects[0]);
  const { width, height, unit } = canvas;
  const paper = mixColours("#f3e9d8", palette.sky[3], 0.2);
  const ink = mixColours(palette.near, "#111111", 0.3);
  const inks = [
    ink,
    palette.accent,
    palette.sky[1],
    mixColours(palette.haze, palette.accent, 0.3),
    mixColours(palette.sky[0], ink, 0.2),
  ] as const;
  const columns = Math.max(3, Math.round(width / (unit * 26)));
  const cell = (width + 2 * canvas.bleed) / (columns + 1);
  const tiles = Array.from({ length: 9 }, () => {
    const x = -canvas.bleed + random.whole(0, columns) * cell;
    const y = random.whole(0, Math.ceil(height / cell) - 1) * cell;
    return drawTile(parts, [x, y], cell, random.pick(inks));
  });
  const centre: Point = [width * random.between(0.36, 0.64), height * random.between(0.34, 0.5)];
  const radius = unit * random.between(19, 28);
  const rings = [1, 0.8, 0.62, 0.4].map((scale, index) =>
    drawCircle(centre, radius * scale, [palette.accent, paper, inks[2], ink][index] ?? ink),
  );
  const bars = Array.from({ length: 6 }, (_, index) => {
    const x = width * 0.1 + index * unit * 4.2;
    return `<rect x="${round(x)}" y="${round(height * 0.58)}" width="${round(unit * (0.5 + index * 0.45))}" height="${round(height * 0.3)}" fill="${ink}"/>`;
  });
  const slant = `<rect x="${-unit * 70}" y="${-unit * 1.3}" width="${unit * 140}" height="${unit * 2.6}" fill="${palette.accent}" transform="translate(${round(width * 0.6)} ${round(height * 0.52)}) rotate(${random.whole(-58, -28)})"/>`;
  const bob = (phase: number, units: number) => ({ kind: "bob", units, periodSeconds: 4 + phase, phase }) as const;
  return {
    layers: [
      { svg: drawBand(canvas, 0, height, paper), depth: 0 },
      { svg: `<g opacity="0.92">${tiles.slice(0, 5).join("")}</g>`, depth: 0.25, motion: bob(0, 1.4) },
      { svg: rings.join(""), depth: 0.5, motion: bob(1, 2) },
      { svg: bars.join(""), depth: 0.65 },
      { svg: `<g opacity="0.9">${tiles.slice(5).join("")}</g>`, depth: 0.75, motion: bob(2, 1.6) },
      { svg: slant, depth: 1, motion: bob(3, 2.4) },
    ],
    particles: null,
    sound: "air",
  };
}

function drawTile({ random }: SceneParts, [x, y]: Point, size: number, fill: string): string {
  const at = (across: number, down: number): string => `${round(x + across * size)} ${round(y + down * size)}`;
  switch (random.whole(0, 4)) {
    case 0:
      return `<path d="M${at(0, 0)}L${at(1, 0)}A${round(size)} ${round(size)} 0 0 1 ${at(0, 1)}Z" fill="${fill}"/>`;
    case 1:
      return `<path d="M${at(1, 1)}L${at(0, 1)}A${round(size)} ${round(size)} 0 0 1 ${at(1, 0)}Z" fill="${fill}"/>`;
    case 2:
      return `<path d="M${at(0, 0)}L${at(1, 0)}L${at(0, 1)}Z" fill="${fill}"/>`;
    case 3:
      return `<path d="M${at(0, 0.5)}A${round(size / 2)} ${round(size / 2)} 0 0 1 ${at(1, 0.5)}Z" fill="${fill}"/>`;
    default:
      return [0, 1, 2, 3]
        .map(
          (row) =>
            `<rect x="${round(x)}" y="${round(y + (row * size) / 4)}" width="${round(size)}" height="${round(size / 9)}" fill="${fill}"/>`,
        )
        .join("");
  }
}

/** Ribbons of colour that follow one current, like ink in water. */
export function drawCurrents(parts: SceneParts): Scene {
  const { canvas, palette, random, createId } = parts;
  const { height } = canvas;
  const id = createId();
  const ground = palette.isDark
    ? mixColours(palette.near, palette.sky[0], 0.5)
    : mixColours(palette.sky[3], "#fbf6ec", 0.4);
  const gradient = drawVerticalGradient(id, [
    [0, ground],
    [1, mixColours(ground, palette.sky[1], 0.35)],
  ]);
  const current = createCurrent(parts);
  const layers = [0, 1, 2, 3].map((index): SceneLayer => {
    const ribbons = Array.from({ length: 46 }, () => drawRibbon(parts, current, index));
    return {
      svg: ribbons.join(""),
      depth: 0.2 + 0.25 * index,
      motion: { kind: "bob", units: 1.4 + 0.5 * index, periodSeconds: 5 + index, phase: index * 1.7 },
    };
  });
  const suns = drawCircle(
    [canvas.width * random.between(0.3, 0.7), height * random.between(0.25, 0.5)],
    canvas.unit * random.between(12, 19),
    palette.accent,
    'fill-opacity="0.9"',
  );
  return {
    layers: [
      { svg: `<defs>${gradient}</defs>${drawBand(canvas, 0, height, `url(#${id})`)}`, depth: 0 },
      { svg: suns, depth: 0.1 },
      ...layers,
    ],
    particles: null,
    sound: "air",
  };
}

type Current = (x: number, y: number) => number;

function createCurrent({ canvas, random }: SceneParts): Current {
  const waves = Array.from({ length: 4 }, () => ({
    across: random.between(-1.6, 1.6) / (canvas.unit * 34),
    down: random.between(-1.6, 1.6) / (canvas.unit * 34),
    phase: random.between(0, 2 * Math.PI),
  }));
  const heading = random.between(-0.5, 0.5);
  return (x, y) =>
    heading + 0.62 * waves.reduce((sum, { across, down, phase }) => sum + Math.sin(x * across + y * down + phase), 0);
}

function drawRibbon({ canvas, palette, random }: SceneParts, current: Current, index: number): string {
  const { width, height, bleed, unit } = canvas;
  let x = random.between(-bleed * 2, width * 0.9);
  let y = random.between(-0.1, 1.1) * height;
  const points: Point[] = [];
  for (let step = 0; step < 34; step += 1) {
    points.push([x, y]);
    const angle = current(x, y);
    x += Math.cos(angle) * unit * 2.6;
    y += Math.sin(angle) * unit * 2.6;
  }
  const colour = mixColours(
    random.pick([palette.sky[0], palette.sky[1], palette.sky[2], palette.accent, palette.far]),
    palette.light,
    random.next() ** 2 * 0.7,
  );
  const wide = unit * random.between(0.12, 1.7) * (1.3 - 0.22 * index);
  return `<path d="${describeCurve(points)}" stroke="${colour}" stroke-width="${round(wide)}" stroke-linecap="round" fill="none" stroke-opacity="${round(random.between(0.35, 0.9))}"/>`;
}
