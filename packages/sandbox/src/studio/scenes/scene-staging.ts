import { mixColours } from "./colour.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { drawFir } from "./scene-elements.ts";
import { describeSubject, type Subject } from "./subject-table.ts";
import { drawSubject } from "./subjects.ts";
import { findHeight, type Point, round } from "./svg-shapes.ts";

type FirPlan = { fill: string; heightMin: number; heightMax: number; stride: number };

export function drawFirs(
  parts: SceneParts,
  line: readonly Point[],
  { fill, heightMin, heightMax, stride }: FirPlan,
): string {
  const { canvas, random } = parts;
  const firs: string[] = [];
  for (let x = -canvas.bleed; x < canvas.width + canvas.bleed; x += stride * random.between(0.5, 1.5)) {
    // The middle stays open, like a stage.
    const edge = Math.abs(x / canvas.width - 0.5) * 2;
    const height = heightMin + (heightMax - heightMin) * Math.min(1, edge ** 1.6) * random.between(0.55, 1.05);
    firs.push(drawFir(parts, [x, findHeight(line, x) + height * 0.06], height, fill));
  }
  return firs.join("");
}

/**
 * `ground` is the level that subjects stand on, or float at; `x` is where the first one stands. A room shows only what
 * fits into it, and things for a table get one.
 */
type CastPlan = {
  ground: number;
  x?: number;
  scale?: number;
  fallback?: Subject;
  isRoom?: boolean;
  isFloating?: boolean;
};

const castMax = 2;
const companionScale = 0.72;

/** The subjects of a scene as one layer: the first, and a smaller one on the other side. */
export function drawCast(parts: SceneParts, plan: CastPlan): SceneLayer[] {
  const { canvas, palette } = parts;
  const fitting = parts.subjects.filter((subject) => plan.isRoom !== true || fitsRoom(subject));
  const shown = (fitting.length > 0 ? fitting : [plan.fallback ?? []].flat()).slice(0, castMax);
  const [first] = shown;
  if (first === undefined) return [];
  // A fork: the cast must not change how a place looks.
  const random = parts.random.fork("cast");
  const x = plan.x ?? canvas.width * random.pick([random.between(0.3, 0.38), random.between(0.62, 0.7)]);
  const ink = mixColours(palette.near, "#000000", 0.1);
  const things = shown.map((subject, index) => {
    const scale = (plan.scale ?? 1) * (index === 0 ? 1 : companionScale);
    const height = describeSubject(subject).size * canvas.unit * scale;
    const middle = index === 0 ? x : canvas.width - x;
    const hasTable = plan.isRoom === true && describeSubject(subject).on === "table";
    const rise = hasTable ? canvas.unit * 16 : 0;
    const foot: Point = [middle, findFoot(parts, subject, height, plan) - rise];
    const thing = drawSubject(subject, { ...parts, random }, { foot, height: hasTable ? height * 0.6 : height, ink });
    return (hasTable ? drawTable(parts, foot, rise) : "") + thing;
  });
  const motion = describeSubject(first).on === "sky" ? skyMotion : null;
  return [{ svg: things.toReversed().join(""), depth: 0.55, ...(motion === null ? {} : { motion }) }];
}

function drawTable({ canvas, palette }: SceneParts, [x, y]: Point, tall: number): string {
  const { unit } = canvas;
  const wood = mixColours("#8b6242", palette.near, palette.isDark ? 0.5 : 0.12);
  const board = (left: number, top: number, wide: number, high: number): string =>
    `<rect x="${round(x + left * unit)}" y="${round(top)}" width="${round(wide * unit)}" height="${round(high)}" fill="${wood}"/>`;
  return board(-22, y, 44, unit * 2) + board(-19, y, 2, tall) + board(17, y, 2, tall);
}

const skyMotion = { kind: "bob", units: 0.9, periodSeconds: 5, phase: 1 } as const;

/** Whether a subject can be indoors. */
export function fitsRoom(subject: Subject): boolean {
  const { on } = describeSubject(subject);
  return on === "ground" || on === "table";
}

function findFoot({ canvas }: SceneParts, subject: Subject, height: number, plan: CastPlan): number {
  const { ground, isFloating = false } = plan;
  if (isFloating || describeSubject(subject).on !== "sky") return ground;
  return Math.min(ground - canvas.unit * 4, Math.max(canvas.height * 0.42, height + canvas.unit * 5));
}

export function chooseWeather({ weather, palette }: SceneParts): Scene["particles"] {
  if (weather === "snow") return { kind: "snow", count: 170, colour: "#ffffff" };
  if (weather === "rain") return { kind: "rain", count: 190, colour: mixColours(palette.light, palette.haze, 0.4) };
  return null;
}
