import type { SeededRandom } from "../../seeded-random.ts";
import type { PhotoPath } from "../image/grade-photos.ts";
import { rasterizeSvg } from "../image/layer-raster.ts";
import type { ShotPerson, ShotPrompt } from "../image/shot-prompt.ts";
import { mixColours } from "../scenes/colour.ts";
import type { Palette } from "../scenes/palette.ts";
import type { Canvas } from "../scenes/scene.ts";
import { drawVerticalGradient, round } from "../scenes/svg-shapes.ts";
import { type CutOut, cutOutPortrait } from "./cut-out-portrait.ts";
import { drawFigure, figureBox } from "./draw-figure.ts";
import { chooseLooks } from "./figure-looks.ts";

export type Stage = {
  canvas: Canvas;
  palette: Palette;
  distance: ShotPrompt["distance"];
  photos: readonly PhotoPath[];
  random: SeededRandom;
};

/** The box of a person in the frame; no other face is in it. */
export type PersonPlace = { left: number; top: number; width: number; height: number };

/** The height of people as a share of the frame. */
const heights = { close: 0.97, medium: 0.8, wide: 0.52 } as const;
/** Boxes may overlap by this much without hiding a head. */
const overlap = 1.14;
const portraitScale = 0.88;

/** Adds people to an RGBA frame: from their photos, or drawn. */
export async function layPeople(frame: Uint8Array, people: readonly ShotPerson[], stage: Stage): Promise<Uint8Array> {
  if (people.length === 0) return frame;
  const { default: sharp } = await import("sharp");
  const { width, height } = stage.canvas;
  const tiles: { input: Buffer; raw: { width: number; height: number; channels: 4 }; left: number; top: number }[] = [];
  for (const [index, person] of people.entries()) {
    const place = placePerson(index, people.length, stage);
    const cutOut = await showPerson(person, place, { ...stage, turn: chooseTurn(index, people.length, stage.random) });
    const raw = { width: place.width, height: place.height, channels: 4 } as const;
    tiles.push({ input: await castShadow(cutOut, stage), raw, left: place.left, top: place.top });
    tiles.push({ input: cutOut.pixels, raw, left: place.left, top: place.top });
  }
  const shade = await drawForeground(stage, people.length);
  tiles.push({ input: shade, raw: { width, height, channels: 4 }, left: 0, top: 0 });
  return sharp(frame, { raw: { width, height, channels: 4 } })
    .composite(tiles)
    .raw()
    .toBuffer();
}

export function placePerson(
  index: number,
  count: number,
  { canvas, distance }: Pick<Stage, "canvas" | "distance">,
): PersonPlace {
  const ratio = figureBox.width / figureBox.height;
  const slot = (canvas.width * 0.96) / count;
  const isCrowd = count > 1;
  const tall = canvas.height * heights[distance] * (isCrowd && distance === "close" ? 0.93 : 1);
  const wide = Math.min(slot * (isCrowd ? overlap : 1), tall * ratio);
  const [width, height] = [Math.floor(wide), Math.floor(wide / ratio)];
  const middle = canvas.width * 0.02 + slot * (index + 0.5);
  // Two people in a dialogue stand together, not at the edges of a wide frame.
  const near = canvas.width / 2 + (middle - canvas.width / 2) * Math.min(1, (wide * 1.04) / slot);
  const left = Math.min(canvas.width - width, Math.max(0, Math.round(near - width / 2)));
  const top = Math.floor(canvas.height - liftPeople(canvas, height) - height);
  return { left, top: Math.max(0, top), width, height };
}

/** Raises small people above the captions. */
function liftPeople({ height }: Canvas, tall: number): number {
  return Math.max(0, 0.78 - tall / height) * height * 0.3;
}

function chooseTurn(index: number, count: number, random: SeededRandom): number {
  if (count === 1) return random.pick([-0.5, 0.5, 0.2]);
  return index < count / 2 ? 0.8 : -0.8;
}

async function showPerson(
  person: ShotPerson,
  { width, height }: PersonPlace,
  stage: Stage & { turn: number },
): Promise<CutOut> {
  const photo = person.photo === null ? undefined : stage.photos[person.photo];
  if (photo !== undefined) return showPortrait(photo, { width, height }, stage.palette);
  const { palette, random, turn } = stage;
  const looks = chooseLooks(person.name, person.appearance);
  const pose = { id: "f", turn, tilt: round(random.between(-3, 3)), light: palette.light, shade: palette.near };
  const figure = drawFigure(looks, pose);
  const [spanX, spanY] = [figureBox.width / looks.height, figureBox.height / looks.height];
  const view = `<svg width="${width}" height="${height}" viewBox="${round((figureBox.width - spanX) / 2)} ${round(figureBox.height - spanY)} ${round(spanX)} ${round(spanY)}">${figure}</svg>`;
  return { pixels: Buffer.from(await rasterizeSvg(view, { left: 0, top: 0, width, height })), width, height };
}

/** Photos are closer than drawn figures, so they are scaled down to match the head size. */
async function showPortrait(
  photo: PhotoPath,
  place: { width: number; height: number },
  palette: Palette,
): Promise<CutOut> {
  const { default: sharp } = await import("sharp");
  const { width, height } = place;
  const size = { width: Math.round(width * portraitScale), height: Math.round(height * portraitScale) };
  const { pixels } = await cutOutPortrait(photo, size, palette);
  const left = Math.floor((width - size.width) / 2);
  const edges = { left, right: width - size.width - left, top: height - size.height, bottom: 0 };
  const whole = await sharp(pixels, { raw: { ...size, channels: 4 } })
    .extend({ ...edges, background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .raw()
    .toBuffer();
  return { pixels: whole, width, height };
}

/** A soft dark outline that separates people from the background. */
async function castShadow({ pixels, width, height }: CutOut, { canvas, palette }: Stage): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  const raw = { width, height, channels: 4 } as const;
  const outline = await sharp(pixels, { raw })
    .extractChannel(3)
    .blur(Math.max(0.4, canvas.unit * 2.6))
    .linear(palette.isDark ? 0.6 : 0.3, 0)
    .raw()
    .toBuffer();
  const [red, green, blue] = [8, 6, 12];
  return sharp({ create: { width, height, channels: 3, background: { r: red, g: green, b: blue } } })
    .joinChannel(outline, { raw: { width, height, channels: 1 } })
    .raw()
    .toBuffer();
}

/** Darkens the floor in front, so that figures have no hard lower edge. */
async function drawForeground(stage: Stage, count: number): Promise<Buffer> {
  const { canvas, palette } = stage;
  const { width, height } = canvas;
  const { top, height: tall } = placePerson(0, count, stage);
  const foot = top + tall;
  const dark = mixColours(palette.near, "#07060a", 0.65);
  const isLifted = foot < height - 2;
  const start = isLifted ? foot - tall * 0.3 : height * 0.78;
  const end = isLifted ? (foot - start) / (height - start) : 1;
  const gradient = drawVerticalGradient("shade", [
    [0, dark, 0],
    [end * 0.6, dark, isLifted ? 0.6 : 0.16],
    [end, dark, isLifted ? 0.96 : 0.42],
    [1, dark, isLifted ? 1 : 0.42],
  ]);
  const svg = `<defs>${gradient}</defs><rect x="0" y="${round(start)}" width="${width}" height="${round(height - start)}" fill="url(#shade)"/>`;
  return Buffer.from(await rasterizeSvg(svg, { left: 0, top: 0, width, height }));
}
