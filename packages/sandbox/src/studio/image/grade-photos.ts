import type { Sharp } from "sharp";
import type { SeededRandom } from "../../seeded-random.ts";
import { mixColours, parseColour } from "../scenes/colour.ts";
import type { Palette } from "../scenes/palette.ts";
import type { Canvas } from "../scenes/scene.ts";

/** The path of a caller's image. */
export type PhotoPath = string;

type GradeParts = { canvas: Canvas; palette: Palette; random: SeededRandom };

const photoPixelsMax = 100_000_000;
const printsMax = 4;
/** Smart cropping only if more than a fifth of a side is lost; otherwise crop at the centre. */
const cutMin = Math.log(1.25);

/**
 * Combines the given images: the first fills the frame in the colours of the prompt, with light from one side; the
 * others lie on it as prints.
 */
export async function gradePhotos(photos: readonly PhotoPath[], parts: GradeParts): Promise<Uint8Array> {
  const { canvas, random } = parts;
  const [first = "", ...others] = photos;
  const frame = await readPhoto(first, canvas.width, canvas.height);
  const light = { x: random.between(0.1, 0.9), y: random.between(0, 0.35) };
  gradePixels(frame, parts, light);
  for (const [index, photo] of others.slice(0, printsMax).entries()) await layPrint(frame, photo, index, parts);
  return frame;
}

/** An RGBA image of the requested size, cropped around what matters. */
export async function readPhoto(path: PhotoPath, width: number, height: number): Promise<Uint8Array> {
  return (await fitPhoto(path, width, height))
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer();
}

/** Upright, as it was taken. */
export async function openPhoto(path: PhotoPath): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  return sharp(path, { limitInputPixels: photoPixelsMax, failOn: "error", pages: 1 }).rotate();
}

/** Cropped to the requested size, without distortion. */
export async function fitPhoto(path: PhotoPath, width: number, height: number): Promise<Sharp> {
  const photo = await openPhoto(path);
  const { autoOrient } = await photo.metadata();
  const cut = Math.abs(Math.log((autoOrient.width / autoOrient.height) * (height / width)));
  return photo.resize(width, height, { fit: "cover", position: cut < cutMin ? "centre" : "attention" });
}

/** Shadows take the colour of the foreground, highlights that of the sun; half of the image's own colour stays. */
function gradePixels(frame: Uint8Array, { canvas, palette }: GradeParts, light: { x: number; y: number }): void {
  const { width, height } = canvas;
  const tones = [
    palette.near,
    mixColours(palette.far, palette.sky[1], 0.5),
    palette.sky[2],
    mixColours(palette.light, palette.sky[3], 0.4),
  ];
  const ramp = Array.from({ length: 256 }, (_, tone) => {
    const place = (tone / 255) * (tones.length - 1);
    const lower = Math.min(tones.length - 2, Math.floor(place));
    return parseColour(mixColours(tones[lower] ?? "#000000", tones[lower + 1] ?? "#ffffff", place - lower));
  });
  const glow = parseColour(palette.light);
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 4) {
      const [red, green, blue] = [frame[at] ?? 0, frame[at + 1] ?? 0, frame[at + 2] ?? 0];
      const tone = Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
      const target = ramp[tone] ?? [0, 0, 0];
      const away = Math.hypot(x / width - light.x, (y / height - light.y) * 0.9);
      const shine = Math.max(0, 1 - away * 1.35) ** 2 * 0.5;
      for (let channel = 0; channel < 3; channel += 1) {
        const graded = (frame[at + channel] ?? 0) * 0.5 + (target[channel] ?? 0) * 0.5;
        // Screen blending: bright areas stay, dark ones gain.
        frame[at + channel] = 255 - ((255 - graded) * (255 - (glow[channel] ?? 0) * shine)) / 255;
      }
    }
  }
}

async function layPrint(
  frame: Uint8Array,
  photo: PhotoPath,
  index: number,
  { canvas, random }: GradeParts,
): Promise<void> {
  const { default: sharp } = await import("sharp");
  const { width, height, unit } = canvas;
  const size = Math.round(unit * 26);
  const border = Math.max(1, Math.round(unit * 1.2));
  const pixels = await readPhoto(photo, size, size);
  const print = await sharp(pixels, { raw: { width: size, height: size, channels: 4 } })
    .extend({ top: border, left: border, right: border, bottom: border * 3, background: "#fbf8f1" })
    .png()
    .toBuffer();
  const { data, info } = await sharp(print)
    .rotate(random.between(-7, 7), { background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const left = Math.round(width - info.width - unit * (4 + 3 * index) - index * size * 0.8);
  const top = Math.round(height * 0.08 + index * unit * 3);
  for (let y = 0; y < info.height; y += 1) {
    for (let x = 0; x < info.width; x += 1) {
      if (left + x < 0 || left + x >= width || top + y >= height) continue;
      const from = (y * info.width + x) * 4;
      const into = ((top + y) * width + left + x) * 4;
      const share = (data[from + 3] ?? 0) / 255;
      for (let channel = 0; channel < 3; channel += 1) {
        const here = frame[into + channel] ?? 0;
        frame[into + channel] = here + ((data[from + channel] ?? 0) - here) * share;
      }
    }
  }
}
