import { mixColours, shiftColour } from "./colour.ts";
import type { Scene, SceneParts } from "./scene.ts";
import { drawCast } from "./scene-staging.ts";
import { describeCurve, drawBand, drawCircle, drawVerticalGradient, type Point, round } from "./svg-shapes.ts";

/** Flowers and leaves in a vase, as on a printed plate. */
export function drawBotanical(parts: SceneParts): Scene {
  const { canvas, palette, random, createId } = parts;
  const { width, height, unit } = canvas;
  const paper = mixColours(palette.sky[3], "#f6efe2", palette.isDark ? 0.3 : 0.62);
  const wall = createId();
  const gradient = drawVerticalGradient(wall, [
    [0, mixColours(paper, palette.haze, 0.22)],
    [1, mixColours(paper, palette.haze, 0.55)],
  ]);
  const disc: Point = [width * random.between(0.42, 0.58), height * 0.4];
  const vaseX = width / 2;
  const table = height * 0.86;
  const stems = Array.from({ length: 11 }, (_, index) => drawStem(parts, [vaseX, height * 0.64], index));
  const visitors = parts.subjects.filter((subject) => subject !== "plant" && subject !== "flower");
  const layerOf = (from: number, to: number): string => stems.slice(from, to).join("");
  const sway = (phase: number) => ({ kind: "bob", units: 0.5, periodSeconds: 4.2, phase }) as const;
  return {
    layers: [
      { svg: `<defs>${gradient}</defs>${drawBand(canvas, 0, height, `url(#${wall})`)}`, depth: 0 },
      { svg: drawCircle(disc, unit * 31, mixColours(palette.accent, paper, 0.32), 'fill-opacity="0.9"'), depth: 0.1 },
      {
        svg:
          drawBand(canvas, table, height + 2, mixColours(palette.haze, palette.far, 0.55)) +
          drawBand(canvas, table, table + unit * 0.5, mixColours(palette.light, palette.haze, 0.4)),
        depth: 0.3,
      },
      { svg: layerOf(0, 4), depth: 0.4, motion: sway(0) },
      { svg: layerOf(4, 8), depth: 0.52, motion: sway(1.4) },
      { svg: drawVase(parts, [vaseX, height * 0.905]), depth: 0.58 },
      ...drawCast({ ...parts, subjects: visitors }, { ground: table + unit * 6, x: width * 0.24 }),
      { svg: layerOf(8, 11), depth: 0.66, motion: sway(2.6) },
    ],
    particles: { kind: "dust", count: 26, colour: palette.light },
    sound: "air",
  };
}

function drawStem(parts: SceneParts, [x, y]: Point, index: number): string {
  const { canvas, palette, random } = parts;
  const { unit } = canvas;
  const spread = (index % 2 === 0 ? 1 : -1) * (0.12 + 0.085 * index) + random.between(-0.1, 0.1);
  const reach = unit * random.between(28, 52) * (1 - Math.abs(spread) * 0.28);
  const tip: Point = [x + Math.sin(spread) * reach * 1.05, y - Math.cos(spread) * reach];
  const bend: Point = [
    x + Math.sin(spread) * reach * 0.3 + random.between(-3, 3) * unit,
    y - Math.cos(spread) * reach * 0.55,
  ];
  const green = mixColours(
    shiftColour("#56765a", random.between(-18, 18), random.between(-0.07, 0.08)),
    palette.far,
    0.25,
  );
  const stem = `<path d="${describeCurve([[x + spread * unit * 3, y + unit * 4], bend, tip])}" stroke="${green}" stroke-width="${round(unit * 0.55)}" fill="none" stroke-linecap="round"/>`;
  const leaves = [0.35, 0.5, 0.64, 0.78].map((share, leaf) => {
    const at: Point = [
      x + (bend[0] - x) * Math.min(1, share * 1.6) + (tip[0] - bend[0]) * Math.max(0, share * 2 - 1),
      y + (tip[1] - y) * share,
    ];
    const angle = (spread * 180) / Math.PI + (leaf % 2 === 0 ? 52 : -52);
    return drawLeaf(parts, at, angle, unit * random.between(6, 11), green);
  });
  return stem + leaves.join("") + (index % 3 === 0 ? drawSpray(parts, tip) : drawBloom(parts, tip));
}

function drawLeaf({ palette }: SceneParts, [x, y]: Point, angle: number, length: number, colour: string): string {
  const half = length * 0.26;
  const place = `transform="translate(${round(x)} ${round(y)}) rotate(${round(angle)})"`;
  const light = mixColours(colour, palette.light, 0.22);
  return `<g ${place}><path d="M0 0C${round(half * 1.5)} ${round(-length * 0.3)} ${round(half)} ${round(-length * 0.8)} 0 ${round(-length)}Z" fill="${colour}"/><path d="M0 0C${round(-half * 1.5)} ${round(-length * 0.3)} ${round(-half)} ${round(-length * 0.8)} 0 ${round(-length)}Z" fill="${light}"/></g>`;
}

function drawBloom({ canvas, palette, random }: SceneParts, [x, y]: Point): string {
  const { unit } = canvas;
  const base = random.pick([
    palette.accent,
    mixColours(palette.accent, "#ffffff", 0.45),
    mixColours(palette.sky[1], palette.accent, 0.4),
    mixColours(palette.light, palette.accent, 0.2),
  ]);
  const size = unit * random.between(4.2, 7.4);
  const petals = random.whole(6, 9);
  const rows = [1, 0.72].map((scale, row) =>
    Array.from({ length: petals }, (_, petal) => {
      const turn = ((petal + row * 0.5) * 360) / petals + random.between(-6, 6);
      const fill = mixColours(base, row === 0 ? palette.near : palette.light, row === 0 ? 0.1 : 0.3);
      const reach = size * scale;
      return `<path d="M0 0C${round(reach * 0.5)} ${round(-reach * 0.25)} ${round(reach * 0.42)} ${round(-reach)} 0 ${round(-reach)}C${round(-reach * 0.42)} ${round(-reach)} ${round(-reach * 0.5)} ${round(-reach * 0.25)} 0 0Z" fill="${fill}" fill-opacity="0.94" transform="translate(${round(x)} ${round(y)}) rotate(${round(turn)}) scale(1 0.96)"/>`;
    }).join(""),
  );
  return (
    rows.join("") +
    drawCircle([x, y], size * 0.2, mixColours("#f4c95d", palette.near, 0.18)) +
    drawCircle([x, y], size * 0.1, mixColours("#f4c95d", palette.near, 0.5))
  );
}

function drawSpray({ canvas, palette, random }: SceneParts, [x, y]: Point): string {
  const { unit } = canvas;
  return Array.from({ length: 26 }, () => {
    const place: Point = [
      x + (random.next() + random.next() - 1) * unit * 6,
      y + (random.next() + random.next() - 1) * unit * 6,
    ];
    return drawCircle(
      place,
      unit * random.between(0.4, 0.95),
      mixColours(palette.light, palette.accent, random.between(0, 0.4)),
    );
  }).join("");
}

function drawVase({ canvas, palette, random, createId }: SceneParts, [x, y]: Point): string {
  const { unit, height } = canvas;
  const tall = y - height * 0.64;
  const [neck, belly, foot] = [unit * 4.4, unit * random.between(8.5, 11), unit * 5.4];
  const glaze = mixColours(palette.far, palette.near, 0.32);
  const id = createId();
  const top = y - tall;
  const outline = `M${round(x - neck)} ${round(top)}C${round(x - neck * 0.8)} ${round(top + tall * 0.2)} ${round(x - belly)} ${round(top + tall * 0.3)} ${round(x - belly)} ${round(top + tall * 0.58)}C${round(x - belly)} ${round(top + tall * 0.86)} ${round(x - foot)} ${round(y)} ${round(x - foot)} ${round(y)}L${round(x + foot)} ${round(y)}C${round(x + foot)} ${round(y)} ${round(x + belly)} ${round(top + tall * 0.86)} ${round(x + belly)} ${round(top + tall * 0.58)}C${round(x + belly)} ${round(top + tall * 0.3)} ${round(x + neck * 0.8)} ${round(top + tall * 0.2)} ${round(x + neck)} ${round(top)}Z`;
  const gradient = `<linearGradient id="${id}" x1="0" y1="0" x2="1" y2="0"><stop offset="0" stop-color="${mixColours(glaze, palette.light, 0.25)}"/><stop offset="0.3" stop-color="${mixColours(glaze, palette.light, 0.42)}"/><stop offset="1" stop-color="${mixColours(glaze, palette.near, 0.55)}"/></linearGradient>`;
  const shadow = `<ellipse cx="${round(x + belly * 0.9)}" cy="${round(y)}" rx="${round(belly * 1.9)}" ry="${round(unit * 1.5)}" fill="${palette.near}" fill-opacity="0.22"/>`;
  return `<defs>${gradient}</defs>${shadow}<path d="${outline}" fill="url(#${id})"/>`;
}
