import { mixColours } from "./colour.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { describeSubject, type Subject } from "./subject-table.ts";
import { drawSubject } from "./subjects.ts";
import { createSwell, drawArea, drawBand, drawCircle, round } from "./svg-shapes.ts";

const paperColour = "#f3e9d8";

/** One subject, large, before a disc: on flat bands of colour as a travel poster, alone on paper as a logo. */
export function drawSubjectPoster(parts: SceneParts, subject: Subject): Scene {
  const { canvas, palette, random, wishes } = parts;
  const { width, height, unit } = canvas;
  const ink = mixColours(palette.near, "#111111", 0.3);
  const isBadge = wishes.includes("badge");
  const { on, size } = describeSubject(subject);
  const tall = unit * (isBadge ? 40 : Math.min(54, Math.max(44, size * 1.35)));
  const middle = height * (isBadge ? 0.46 : 0.4);
  const ground = height * 0.74;
  const foot = isBadge || on === "sky" ? middle + tall / 2 : ground + unit;
  const sky = [0, 0.28, 0.5].map((from, index) =>
    drawBand(canvas, height * from, height + 2, palette.sky[index] ?? palette.sky[2]),
  );
  const hill = createSwell(canvas, random.fork("hill"), { y: ground, amplitude: unit * 1.6, waves: 0.8 });
  const land = on === "water" ? palette.far : mixColours(palette.near, palette.far, 0.2);
  const shadow = `<path d="M${round(width / 2 - tall * 0.12)} ${round(ground)}H${round(width / 2 + tall * 0.12)}L${round(width / 2 + tall * 0.9)} ${height + 2}H${round(width / 2 + tall * 0.2)}Z" fill="${ink}" fill-opacity="0.35"/>`;
  const disc = drawCircle(
    [width / 2, middle],
    unit * (isBadge ? 33 : 27),
    isBadge ? mixColours(palette.sky[1], paperColour, 0.25) : mixColours(palette.accent, palette.sky[3], 0.35),
  );
  const ring = isBadge
    ? `<circle cx="${round(width / 2)}" cy="${round(middle)}" r="${round(unit * 36)}" fill="none" stroke="${ink}" stroke-width="${round(unit * 1.2)}"/>`
    : "";
  const lit = { ...parts, palette: { ...palette, isDark: false } };
  return {
    layers: [
      { svg: isBadge ? drawBand(canvas, 0, height, paperColour) : sky.join(""), depth: 0 },
      { svg: disc + ring, depth: 0.1 },
      ...(isBadge ? [] : [{ svg: drawArea(hill, height + 2, land) + (on === "sky" ? "" : shadow), depth: 0.3 }]),
      { svg: drawSubject(subject, lit, { foot: [width / 2, foot], height: tall, ink }), depth: 0.4 },
      ...(isBadge ? [] : [drawMargin(parts)]),
    ],
    particles: null,
    sound: "air",
  };
}

/** A scene as a poster: without weather, in a margin of paper. */
export function framePoster(scene: Scene, parts: Pick<SceneParts, "canvas">): Scene {
  return { ...scene, layers: [...scene.layers, drawMargin(parts)] };
}

function drawMargin({ canvas }: Pick<SceneParts, "canvas">): SceneLayer {
  const { width, height, unit } = canvas;
  const edge = unit * 4;
  return {
    svg: `<rect x="${round(edge / 2)}" y="${round(edge / 2)}" width="${round(width - edge)}" height="${round(height - edge)}" fill="none" stroke="${paperColour}" stroke-width="${round(edge)}"/>`,
    depth: 0,
  };
}
