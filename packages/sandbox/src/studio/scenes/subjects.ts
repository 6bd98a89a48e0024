import { animalDrawings } from "./animal-drawings.ts";
import { builtDrawings } from "./built-drawings.ts";
import { mixColours } from "./colour.ts";
import type { Drawing } from "./drawing.ts";
import { foodDrawings } from "./food-drawings.ts";
import type { SceneParts } from "./scene.ts";
import { describeSubject, type Subject } from "./subject-table.ts";
import { describeCurve, drawCircle, drawGlow, type Point, round } from "./svg-shapes.ts";
import { thingDrawings } from "./thing-drawings.ts";

/** The position of a subject (the middle of its foot), its height and its colour. */
export type SubjectPlace = { foot: Point; height: number; ink: string };

type Painter = (parts: SceneParts, place: SubjectPlace) => string;

const drawings = { ...animalDrawings, ...builtDrawings, ...foodDrawings, ...thingDrawings };

/** Subjects that need more than flat shapes: a glow, branches, a pattern. */
const painters: Record<Exclude<Subject, keyof typeof drawings>, Painter> = {
  whale: (parts, place) =>
    drawParts([["body", whalePath]], parts, place, mixColours("#4f6f8f", parts.palette.near, 0.4)),
  boat: drawBoat,
  house: drawHouse,
  tree: drawTree,
  balloon: drawBalloon,
  lighthouse: drawLighthouse,
  birds: drawBirds,
  rocket: drawRocket,
};

export function drawSubject(subject: Subject, parts: SceneParts, place: SubjectPlace): string {
  if (!isDrawing(subject)) return painters[subject](parts, place);
  const colour = parts.colours.get(subject) ?? describeSubject(subject).colour;
  return drawParts(drawings[subject], parts, place, colour);
}

function isDrawing(subject: Subject): subject is keyof typeof drawings {
  return Object.hasOwn(drawings, subject);
}

/** Daylight shows a drawing's own colours, and the night takes most of them away. */
function drawParts(
  drawing: Drawing,
  { palette }: SceneParts,
  { foot: [x, y], height, ink }: SubjectPlace,
  colour: string,
): string {
  const tone = (own: string): string =>
    mixColours(mixColours(own, palette.haze, 0.08), ink, palette.isDark ? 0.22 : 0.06);
  const named: Record<string, string> = {
    body: tone(colour),
    shade: tone(mixColours(colour, "#1d1a20", 0.32)),
    tint: tone(mixColours(colour, "#ffffff", 0.4)),
    dark: tone("#26242a"),
    pale: tone("#f4efe4"),
    glow: mixColours("#ffe9a8", palette.accent, 0.12),
  };
  const shapes = drawing.map(([own, path, stroke]) => {
    const paint = named[own] ?? tone(own);
    return stroke === undefined
      ? `<path d="${path}" fill="${paint}"/>`
      : `<path d="${path}" stroke="${paint}" stroke-width="${stroke}" stroke-linecap="round" stroke-linejoin="round" fill="none"/>`;
  });
  const scale = round(height / 100);
  return `<g transform="translate(${round(x - height / 2)} ${round(y - height)}) scale(${scale})">${shapes.join("")}</g>`;
}

const whalePath =
  "M0 62C14 36 48 28 74 44C84 50 90 50 94 42C88 38 84 30 85 22C91 24 96 28 99 34C102 28 108 24 114 24C113 33 109 40 103 43C102 62 88 78 62 80C58 88 48 94 40 93C44 88 46 84 46 80C24 80 8 74 0 62Z";

function drawBoat({ palette, colours }: SceneParts, { foot: [x, y], height, ink }: SubjectPlace): string {
  const hull = mixColours(colours.get("boat") ?? ink, ink, 0.2);
  const at = (across: number, up: number): string => `${round(x + across * height)} ${round(y - up * height)}`;
  const sail = mixColours(palette.light, palette.accent, 0.12);
  const shade = mixColours(sail, palette.far, 0.4);
  return `<path d="M${at(-0.42, 0.14)}Q${at(0, 0.1)} ${at(0.46, 0.16)}Q${at(0.34, 0)} ${at(0.22, 0)}L${at(-0.26, 0)}Q${at(-0.38, 0.04)} ${at(-0.42, 0.14)}Z" fill="${hull}"/>
<path d="M${at(0.01, 0.18)}L${at(0.02, 1)}" stroke="${ink}" stroke-width="${round(height * 0.018)}"/>
<path d="M${at(0.04, 0.98)}Q${at(0.32, 0.6)} ${at(0.4, 0.22)}L${at(0.04, 0.2)}Z" fill="${sail}"/>
<path d="M${at(-0.01, 0.9)}Q${at(-0.22, 0.52)} ${at(-0.36, 0.22)}L${at(-0.01, 0.2)}Z" fill="${shade}"/>`;
}

function drawHouse(parts: SceneParts, { foot: [x, y], height, ink }: SubjectPlace): string {
  const { palette } = parts;
  const wall = mixColours(parts.colours.get("house") ?? palette.light, palette.far, 0.28);
  const lit = mixColours(palette.accent, "#fff2c0", 0.45);
  const box = (left: number, top: number, wide: number, tall: number, fill: string): string =>
    `<rect x="${round(x + left * height)}" y="${round(y - top * height)}" width="${round(wide * height)}" height="${round(tall * height)}" fill="${fill}"/>`;
  const roof = `<path d="M${round(x - 0.66 * height)} ${round(y - 0.5 * height)}L${round(x)} ${round(y - height)}L${round(x + 0.66 * height)} ${round(y - 0.5 * height)}Z" fill="${ink}"/>`;
  return (
    box(0.24, 1.02, 0.13, 0.35, ink) +
    box(-0.55, 0.52, 1.1, 0.52, wall) +
    roof +
    drawGlow(parts, [x - 0.25 * height, y - 0.28 * height], height * 0.6, lit, 0.5) +
    box(-0.38, 0.4, 0.24, 0.22, lit) +
    box(0.16, 0.4, 0.22, 0.4, mixColours(ink, wall, 0.2))
  );
}

/** Forking branches with leaves at their ends. */
function drawTree({ palette, random }: SceneParts, { foot, height, ink }: SubjectPlace): string {
  const branches: string[] = [];
  const leaves: string[] = [];
  const leaf = mixColours(palette.accent, palette.near, 0.3);
  const grow = ([x, y]: Point, angle: number, length: number, width: number): void => {
    const end: Point = [x + Math.cos(angle) * length, y - Math.sin(angle) * length];
    const bend: Point = [(x + end[0]) / 2 + random.between(-0.08, 0.08) * length, (y + end[1]) / 2];
    branches.push(
      `<path d="${describeCurve([[x, y], bend, end])}" stroke="${ink}" stroke-width="${round(width)}" stroke-linecap="round" fill="none"/>`,
    );
    if (length < height * 0.1) {
      const fill = mixColours(leaf, palette.light, random.between(0, 0.35));
      leaves.push(
        drawCircle(end, height * random.between(0.05, 0.1), fill, `fill-opacity="${round(random.between(0.55, 0.9))}"`),
      );
      return;
    }
    for (let twig = 0; twig < 3; twig += 1) {
      grow(end, angle + random.between(-0.75, 0.75), length * random.between(0.62, 0.78), width * 0.62);
    }
  };
  grow(foot, Math.PI / 2, height * 0.34, height * 0.06);
  return branches.join("") + leaves.join("");
}

function drawBalloon(
  { palette, random, createId, colours: named }: SceneParts,
  { foot: [x, y], height, ink }: SubjectPlace,
): string {
  const id = createId();
  const radius = height * 0.36;
  const top = y - height;
  const colours = [
    named.get("balloon") ?? palette.accent,
    mixColours(palette.light, palette.accent, 0.15),
    mixColours(palette.accent, palette.far, 0.5),
  ];
  const first = random.whole(0, 2);
  const gores = [-1, -0.62, -0.24, 0.24, 0.62, 1].slice(0, -1).map((from, index) => {
    const to = [-0.62, -0.24, 0.24, 0.62, 1][index] ?? 1;
    return `<rect x="${round(x + from * radius)}" y="${round(top)}" width="${round((to - from) * radius + 0.5)}" height="${round(height)}" fill="${colours[(first + index) % 3]}"/>`;
  });
  const shape = `M${round(x)} ${round(top)}C${round(x + radius * 1.35)} ${round(top)} ${round(x + radius * 1.2)} ${round(top + radius * 1.5)} ${round(x + radius * 0.28)} ${round(top + radius * 2.2)}L${round(x - radius * 0.28)} ${round(top + radius * 2.2)}C${round(x - radius * 1.2)} ${round(top + radius * 1.5)} ${round(x - radius * 1.35)} ${round(top)} ${round(x)} ${round(top)}Z`;
  const basket = `<rect x="${round(x - radius * 0.2)}" y="${round(y - height * 0.1)}" width="${round(radius * 0.4)}" height="${round(height * 0.1)}" rx="${round(radius * 0.06)}" fill="${ink}"/>`;
  const ropes = `<path d="M${round(x - radius * 0.26)} ${round(top + radius * 2.2)}L${round(x - radius * 0.18)} ${round(y - height * 0.1)}M${round(x + radius * 0.26)} ${round(top + radius * 2.2)}L${round(x + radius * 0.18)} ${round(y - height * 0.1)}" stroke="${ink}" stroke-width="${round(height * 0.008)}"/>`;
  const shade = `<ellipse cx="${round(x + radius * 0.55)}" cy="${round(top + radius * 1.1)}" rx="${round(radius * 0.8)}" ry="${round(radius * 1.4)}" fill="${palette.near}" fill-opacity="0.14"/>`;
  return `<defs><clipPath id="${id}"><path d="${shape}"/></clipPath></defs><g clip-path="url(#${id})">${gores.join("")}${shade}</g>${ropes}${basket}`;
}

function drawLighthouse(parts: SceneParts, { foot: [x, y], height, ink }: SubjectPlace): string {
  const { palette, createId } = parts;
  const id = createId();
  const wall = mixColours(palette.light, palette.haze, 0.2);
  const at = (across: number, up: number): string => `${round(x + across * height)} ${round(y - up * height)}`;
  const tower = `M${at(-0.13, 0)}L${at(-0.075, 0.78)}L${at(0.075, 0.78)}L${at(0.13, 0)}Z`;
  const stripes = [0.12, 0.42].map(
    (up) =>
      `<rect x="${round(x - height * 0.2)}" y="${round(y - (up + 0.16) * height)}" width="${round(height * 0.4)}" height="${round(height * 0.16)}" fill="${palette.accent}"/>`,
  );
  const lamp: Point = [x, y - height * 0.86];
  const beamId = createId();
  const fade = (offset: number, opacity: number): string =>
    `<stop offset="${offset}" stop-color="${palette.light}" stop-opacity="${opacity}"/>`;
  const beamLight = `<linearGradient id="${beamId}" gradientUnits="userSpaceOnUse" x1="${round(x - height * 2.4)}" x2="${round(x + height * 2.4)}" y1="0" y2="0">${fade(0, 0)}${fade(0.5, 0.42)}${fade(1, 0)}</linearGradient>`;
  const beam = (side: number): string =>
    `<path d="M${at(0, 0.86)}L${at(side * 2.4, 1.12)}L${at(side * 2.4, 0.72)}Z" fill="url(#${beamId})"/>`;
  return `<defs><clipPath id="${id}"><path d="${tower}"/></clipPath>${beamLight}</defs>${beam(1)}${beam(-1)}<path d="${tower}" fill="${wall}"/><g clip-path="url(#${id})">${stripes.join("")}<rect x="${round(x + height * 0.02)}" y="${round(y - height)}" width="${round(height * 0.3)}" height="${round(height)}" fill="${palette.near}" fill-opacity="0.25"/></g>
<rect x="${round(x - 0.11 * height)}" y="${round(y - 0.8 * height)}" width="${round(0.22 * height)}" height="${round(0.03 * height)}" fill="${ink}"/>
<rect x="${round(x - 0.055 * height)}" y="${round(y - 0.91 * height)}" width="${round(0.11 * height)}" height="${round(0.11 * height)}" fill="${mixColours(palette.light, palette.accent, 0.3)}"/>
<path d="M${at(-0.08, 0.91)}L${at(0, 1)}L${at(0.08, 0.91)}Z" fill="${ink}"/>${drawGlow(parts, lamp, height * 0.5, palette.light, 0.8)}`;
}

function drawBirds({ random }: SceneParts, { foot: [x, y], height, ink }: SubjectPlace): string {
  return Array.from({ length: random.whole(7, 12) }, (_, index) => {
    const size = height * random.between(0.07, 0.13);
    const middle = x + (index % 2 === 0 ? 1 : -1) * index * height * 0.13 + random.between(-0.06, 0.06) * height;
    const level = y - height + index * height * 0.06 + random.between(-0.05, 0.05) * height;
    const lift = size * random.between(0.25, 0.6);
    return `<path d="M${round(middle - size)} ${round(level - lift)}Q${round(middle - size * 0.4)} ${round(level - lift * 1.1)} ${round(middle)} ${round(level)}Q${round(middle + size * 0.4)} ${round(level - lift * 1.1)} ${round(middle + size)} ${round(level - lift)}" stroke="${ink}" stroke-width="${round(size * 0.16)}" stroke-linecap="round" fill="none"/>`;
  }).join("");
}

function drawRocket(parts: SceneParts, { foot: [x, y], height, ink }: SubjectPlace): string {
  const { palette } = parts;
  const at = (across: number, up: number): string => `${round(x + across * height)} ${round(y - up * height)}`;
  const hull = mixColours(palette.light, palette.haze, 0.15);
  return `<g transform="rotate(24 ${round(x)} ${round(y - height / 2)})">${drawGlow(parts, [x, y - height * 0.02], height * 0.45, palette.accent, 0.9)}
<path d="M${at(-0.08, 0.2)}Q${at(-0.1, -0.05)} ${at(0, -0.3)}Q${at(0.1, -0.05)} ${at(0.08, 0.2)}Z" fill="${mixColours(palette.accent, "#fff6cf", 0.5)}"/>
<path d="M${at(-0.13, 0.42)}L${at(-0.27, 0.12)}L${at(-0.1, 0.2)}ZM${at(0.13, 0.42)}L${at(0.27, 0.12)}L${at(0.1, 0.2)}Z" fill="${palette.accent}"/>
<path d="M${at(0, 1)}C${at(0.22, 0.8)} ${at(0.18, 0.4)} ${at(0.1, 0.18)}L${at(-0.1, 0.18)}C${at(-0.18, 0.4)} ${at(-0.22, 0.8)} ${at(0, 1)}Z" fill="${hull}"/>
<path d="M${at(0, 1)}C${at(0.22, 0.8)} ${at(0.18, 0.4)} ${at(0.1, 0.18)}L${at(0.03, 0.18)}C${at(0.1, 0.4)} ${at(0.1, 0.8)} ${at(0, 1)}Z" fill="${ink}" fill-opacity="0.25"/>
${drawCircle([x, y - height * 0.62], height * 0.065, ink)}${drawCircle([x, y - height * 0.62], height * 0.045, palette.sky[2])}</g>`;
}
