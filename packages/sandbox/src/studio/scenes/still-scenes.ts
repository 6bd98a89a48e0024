import { drawFigure, figureBox } from "../people/draw-figure.ts";
import { mixColours } from "./colour.ts";
import type { Scene, SceneParts } from "./scene.ts";
import { fitsRoom } from "./scene-staging.ts";
import { describeSubject } from "./subject-table.ts";
import { drawSubject } from "./subjects.ts";
import { drawBand, drawBlur, drawGlow, drawVerticalGradient, round } from "./svg-shapes.ts";

/** Things on a table before a plain wall, close up, in the light of a window. */
export function drawStill(parts: SceneParts): Scene {
  const { canvas, palette, random, subjects, createId } = parts;
  const { width, height, unit } = canvas;
  const table = height * 0.7;
  const wood = mixColours(random.pick(["#c9a77a", "#b98d5e", "#d8bd94"]), palette.near, palette.isDark ? 0.55 : 0.05);
  const [boardId, blurId] = [createId(), createId()];
  const board = drawVerticalGradient(boardId, [
    [0, mixColours(wood, palette.light, 0.3)],
    [1, mixColours(wood, palette.near, 0.3)],
  ]);
  const shown = subjects.filter((subject, index) => index === 0 || fitsRoom(subject)).slice(0, 2);
  const spots = shown.length === 1 ? [0.5] : [0.36, 0.7];
  const things = shown.map((subject, index) => {
    const tall = Math.max(30, describeSubject(subject).size) * unit * (index === 0 ? 1.15 : 0.85);
    const [x, foot] = [width * (spots[index] ?? 0.5), table + unit * (index === 0 ? 9 : 5)];
    const shadow = `<ellipse cx="${round(x + tall * 0.12)}" cy="${round(foot)}" rx="${round(tall * 0.52)}" ry="${round(unit * 2.6)}" fill="${palette.near}" fill-opacity="0.4" filter="url(#${blurId})"/>`;
    const ink = mixColours(palette.near, "#000000", 0.1);
    return shadow + drawSubject(subject, parts, { foot: [x, foot], height: tall, ink });
  });
  return {
    layers: [
      drawBackdrop(parts),
      { svg: `<defs>${board}</defs>${drawBand(canvas, table, height + 2, `url(#${boardId})`)}`, depth: 0.3 },
      {
        svg: `<defs>${drawBlur(blurId, unit * 1.4)}</defs>${things.toReversed().join("")}`,
        depth: 0.6,
      },
    ],
    particles: { kind: "dust", count: 24, colour: palette.light },
    sound: "air",
  };
}

/** A person, head and shoulders, before a plain wall. */
export function drawPortrait(parts: SceneParts): Scene {
  const { canvas, palette, looks, createId } = parts;
  const { width, height } = canvas;
  const tall = Math.min(height * 0.97, width * 1.15);
  const scale = round(tall / figureBox.height);
  const pose = { id: createId(), turn: 0.1, tilt: 0, light: palette.light, shade: palette.near };
  const left = round((width - figureBox.width * scale) / 2);
  return {
    layers: [
      drawBackdrop(parts),
      {
        svg: `<g transform="translate(${left} ${round(height - tall + 2)}) scale(${scale})">${drawFigure(looks, pose)}</g>`,
        depth: 0.5,
      },
    ],
    particles: null,
    sound: "air",
  };
}

function drawBackdrop(parts: SceneParts) {
  const { canvas, palette, random, createId } = parts;
  const { width, height, unit } = canvas;
  const id = createId();
  const wall = palette.isDark
    ? mixColours(palette.sky[0], palette.near, 0.35)
    : mixColours(mixColours("#efe7da", palette.haze, 0.3), palette.far, 0.12);
  const gradient = drawVerticalGradient(id, [
    [0, mixColours(wall, palette.near, 0.1)],
    [1, mixColours(wall, palette.light, 0.2)],
  ]);
  const light = drawGlow(
    parts,
    [width * random.pick([0.22, 0.78]), height * 0.3],
    unit * 60,
    palette.light,
    palette.isDark ? 0.22 : 0.6,
  );
  return { svg: `<defs>${gradient}</defs>${drawBand(canvas, 0, height, `url(#${id})`)}${light}`, depth: 0.05 };
}
