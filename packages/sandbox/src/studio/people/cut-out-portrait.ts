import { fitPhoto, type PhotoPath } from "../image/grade-photos.ts";
import { parseColour } from "../scenes/colour.ts";
import type { Palette } from "../scenes/palette.ts";
import { figureBox } from "./draw-figure.ts";

/** A person without the background; RGBA. */
export type CutOut = { pixels: Buffer; width: number; height: number };

/** The resolution of the mask: smaller details do not matter. */
const maskSize = { width: figureBox.width, height: figureBox.height };
/** Neighbours that differ by less are one area; of 255. */
const stepMax = 8;
const backgroundShareMax = 0.72;
const faceShareMax = 0.06;
const sidesShareMin = 0.8;

/**
 * Cuts the person out of an image, without distortion: by its transparency, by an even background, or else by a
 * head-and-shoulders shape. Adjusts to the scene's light.
 */
export async function cutOutPortrait(
  photo: PhotoPath,
  size: { width: number; height: number },
  palette: Palette,
): Promise<CutOut> {
  const { default: sharp } = await import("sharp");
  const whole = await (await fitPhoto(photo, size.width, size.height))
    .toColourspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer();
  const raw = { raw: { ...size, channels: 4 } } as const;
  const small = await sharp(whole, raw).resize(maskSize.width, maskSize.height, { fit: "fill" }).raw().toBuffer();
  const mask = findTransparency(small) ?? findForeground(small) ?? (await drawShoulders());
  // Moves the edge inwards, so that no background is left around the hair.
  const alpha = await sharp(softenEdges(mask), { raw: { ...maskSize, channels: 1 } })
    .blur(1.7)
    .linear(1.9, -225)
    .resize(size.width, size.height, { fit: "fill", kernel: "cubic" })
    .extractChannel(0)
    .raw()
    .toBuffer();
  const light = listGains(palette);
  const lit = await sharp(whole, raw)
    .flatten({ background: "#808080" })
    .linear(light, [0, 0, 0])
    .joinChannel(alpha, { raw: { ...size, channels: 1 } })
    .raw()
    .toBuffer();
  return { pixels: lit, ...size };
}

/** The colour gains of the scene's light: a fifth of its tint, and darker at night. */
function listGains({ light, sky, isDark }: Palette): number[] {
  const [lamp, air] = [parseColour(light), parseColour(sky[2])];
  const tint = lamp.map((value, channel) => value * 0.6 + (air[channel] ?? 0) * 0.4);
  const mean = tint.reduce((sum, value) => sum + value, 0) / 3;
  return tint.map((value) => (isDark ? 0.9 : 1) * (0.8 + 0.2 * Math.min(1.5, value / Math.max(1, mean))));
}

function findTransparency(small: Buffer): Uint8Array | null {
  const mask = Uint8Array.from({ length: small.length / 4 }, (_, pixel) => small[pixel * 4 + 3] ?? 255);
  return isPerson(mask) ? mask : null;
}

/**
 * Everything that cannot be reached from the upper edges over an even background; `null` if the result is unlikely to
 * be a person.
 */
function findForeground(small: Buffer): Uint8Array | null {
  const { width, height } = maskSize;
  const mask = new Uint8Array(width * height).fill(255);
  const open: number[] = [];
  const reach = (pixel: number): void => {
    if (mask[pixel] === 0) return;
    mask[pixel] = 0;
    open.push(pixel);
  };
  for (let x = 0; x < width; x += 1) reach(x);
  for (let y = 0; y < height * 0.55; y += 1) for (const x of [0, width - 1]) reach(y * width + x);
  for (let pixel = open.pop(); pixel !== undefined; pixel = open.pop()) {
    const x = pixel % width;
    for (const next of [x > 0 ? pixel - 1 : -1, x < width - 1 ? pixel + 1 : -1, pixel - width, pixel + width]) {
      if (next >= 0 && next < mask.length && compare(small, pixel, next) < stepMax) reach(next);
    }
  }
  return isPerson(mask) ? mask : null;
}

/** Whether the mask has a face in the middle and nothing beside it. */
function isPerson(mask: Uint8Array): boolean {
  const share = measureBackground(mask, () => true);
  const face = measureBackground(mask, (across, down) => Math.hypot((across - 0.5) / 0.16, (down - 0.48) / 0.22) < 1);
  const sides = measureBackground(mask, (across, down) => down < 0.5 && Math.abs(across - 0.5) > 0.37);
  return share <= backgroundShareMax && face <= faceShareMax && sides >= sidesShareMin;
}

function compare(small: Buffer, one: number, other: number): number {
  const [here, there] = [one * 4, other * 4];
  const differences = [0, 1, 2].map((channel) =>
    Math.abs((small[here + channel] ?? 0) - (small[there + channel] ?? 0)),
  );
  return Math.max(...differences);
}

/** The share of background in a part of the image; coordinates are from 0 to 1. */
function measureBackground(mask: Uint8Array, isInside: (across: number, down: number) => boolean): number {
  const { width, height } = maskSize;
  const inside = mask.filter((_, pixel) => isInside((pixel % width) / width, Math.floor(pixel / width) / height));
  return inside.filter((value) => value < 32).length / Math.max(1, inside.length);
}

async function drawShoulders(): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const { width, height } = maskSize;
  const shape =
    '<ellipse cx="100" cy="102" rx="66" ry="84"/><path d="M12 240C12 190 40 166 78 156L122 156C160 166 188 190 188 240Z"/>';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${figureBox.width} ${figureBox.height}"><g fill="#ffffff">${shape}</g></svg>`;
  return sharp(Buffer.from(svg)).extractChannel(3).raw().toBuffer();
}

/** Fades at the edges of the image, except the lower one, where the frame ends. */
function softenEdges(mask: Uint8Array): Uint8Array {
  const { width, height } = maskSize;
  return mask.map((value, pixel) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const away = Math.min(x / width, (width - 1 - x) / width, (y / height) * 1.2);
    return value * Math.min(1, away / 0.07);
  });
}
