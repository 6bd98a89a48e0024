import type { Sharp } from "sharp";
import type { FontMetrics } from "../../../platform/text/font-metrics.ts";
import { type FrameSize, fitFrame, placeImage } from "./choose-frame.ts";
import { takeDrawable } from "./drawable-text.ts";
import { drawDocument, round, setLine } from "./set-text.ts";
import { joinAtoms, splitAtoms, wrapAtoms } from "./wrap-text.ts";

export type TitleParts = {
  title: string;
  episodeLabel: string;
  imagePath: string;
  metrics: FontMetrics;
};

/** A title wrapped into lines, in the largest size that fits. */
type SetTitle = { lines: readonly string[]; size: number; leading: number };

const posterBounds = { longSideMin: 480, longSideMax: 1920 };
const imagePixelsMax = 100_000_000;

/** Title and episode on a darkened, blurred version of the image. */
export async function drawTitleCard(path: string, frame: FrameSize, parts: TitleParts): Promise<void> {
  const { width, height } = frame;
  const title = setTitle(parts, {
    width: width * 0.8,
    height: height * 0.5,
    sizeMax: Math.min(height * 0.115, width * 0.09),
  });
  const label = chooseLabelSize(frame);
  const blockHeight = title.lines.length * title.leading + label * 3;
  const top = (height - blockHeight) / 2;
  const ruleY = top + title.lines.length * title.leading + label * 0.9;
  const dim = `<radialGradient id="dim" r="0.8"><stop offset="0" stop-color="#06070a" stop-opacity="0.3"/><stop offset="1" stop-color="#06070a" stop-opacity="0.74"/></radialGradient>`;
  const elements = [
    `<defs>${dim}</defs><rect width="100%" height="100%" fill="url(#dim)"/>`,
    ...drawTitle(title, width / 2, top),
    drawEpisode(parts, { x: width / 2, y: ruleY, size: label }),
  ];
  const image = await coverFrame(parts.imagePath, frame);
  const blurred = await image
    .blur(Math.max(1, width / 48))
    .modulate({ saturation: 0.85 })
    .png()
    .toBuffer();
  await finish(blurred, frame, elements).then((card) => card.png({ compressionLevel: 1 }).toFile(path));
}

/** A poster in the film's ratio, with the title in its lower part. */
export async function drawPoster(path: string, frame: FrameSize, parts: TitleParts): Promise<void> {
  const size = fitFrame(frame.width / frame.height, [await measureImage(parts.imagePath)], posterBounds);
  const { width, height } = size;
  const sizeMax = Math.min(width * 0.11, height * 0.105);
  const title = setTitle(parts, { width: width * 0.84, height: height * 0.34, sizeMax });
  const label = chooseLabelSize(size);
  const ruleY = height - height * 0.06 - label * 1.9;
  const top = ruleY - label * 0.9 - title.lines.length * title.leading;
  const shadeTop = Math.max(0, top - height * 0.22);
  const shade = `<linearGradient id="shade" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#05060a" stop-opacity="0"/><stop offset="0.5" stop-color="#05060a" stop-opacity="0.62"/><stop offset="1" stop-color="#05060a" stop-opacity="0.9"/></linearGradient>`;
  const elements = [
    `<defs>${shade}</defs><rect x="0" y="${round(shadeTop)}" width="${width}" height="${round(height - shadeTop)}" fill="url(#shade)"/>`,
    ...drawTitle(title, width / 2, top),
    drawEpisode(parts, { x: width / 2, y: ruleY, size: label }),
  ];
  const image = await placeOnFrame(parts.imagePath, size);
  await finish(image, size, elements).then((poster) => poster.jpeg({ quality: 88, mozjpeg: true }).toFile(path));
}

function drawTitle({ lines, size, leading }: SetTitle, x: number, top: number): string[] {
  return lines.map((text, index) =>
    setLine({ text, x, y: top + index * leading + size * 0.95, size, fill: "#ffffff", spacing: 0.01 }),
  );
}

/** A short rule with the episode below it. */
function drawEpisode(
  { episodeLabel, metrics }: TitleParts,
  { x, y, size }: { x: number; y: number; size: number },
): string {
  const rule = `<rect x="${round(x - size * 1.6)}" y="${round(y)}" width="${round(size * 3.2)}" height="${round(Math.max(1, size * 0.08))}" fill="#f2c879" fill-opacity="0.9"/>`;
  const { text } = takeDrawable(episodeLabel, metrics);
  return rule + setLine({ text, x, y: y + size * 1.85, size, fill: "#ffffff", opacity: 0.84, spacing: 0.12 });
}

function chooseLabelSize({ width, height }: FrameSize): number {
  return Math.max(7, Math.min(height * 0.036, width * 0.04));
}

/** Reduces the size until the title fits. */
function setTitle({ title, metrics }: TitleParts, room: { width: number; height: number; sizeMax: number }): SetTitle {
  const { text } = takeDrawable(title, metrics);
  let size = room.sizeMax;
  for (;;) {
    // Allow for letter spacing, and for ligatures that are wider than their letters.
    const widthMax = (room.width / size) * 0.95;
    const lines = wrapAtoms(splitAtoms(text, metrics, widthMax), widthMax).map(joinAtoms);
    const leading = size * 1.28;
    const isLast = size < room.sizeMax * 0.3;
    if (lines.length * leading <= room.height || isLast) {
      return { lines: lines.slice(0, Math.max(1, Math.floor(room.height / leading))), size, leading };
    }
    size *= 0.94;
  }
}

async function load(path: string): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  return sharp(path, { limitInputPixels: imagePixelsMax, pages: 1 })
    .autoOrient()
    .flatten({ background: "#000000" })
    .toColourspace("srgb");
}

async function measureImage(path: string): Promise<FrameSize> {
  const { autoOrient } = await (await load(path)).metadata();
  return autoOrient;
}

async function coverFrame(path: string, { width, height }: FrameSize): Promise<Sharp> {
  return (await load(path)).resize(width, height, { fit: "cover" });
}

/** Crops a little, or shows the whole image on a blurred copy if too much would be cropped. */
async function placeOnFrame(path: string, frame: FrameSize): Promise<Buffer> {
  const placement = placeImage(await measureImage(path), frame);
  const covered = await coverFrame(path, frame);
  if (placement.kind === "cover") return await covered.png({ compressionLevel: 1 }).toBuffer();
  const whole = await (await load(path))
    .resize(placement.width, placement.height, { fit: "fill" })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const behind = await covered
    .blur(frame.width / 30)
    .modulate({ brightness: 0.5 })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const { default: sharp } = await import("sharp");
  return await sharp(behind)
    .composite([{ input: whole, gravity: "centre" }])
    .png({ compressionLevel: 1 })
    .toBuffer();
}

async function finish(image: Buffer, frame: FrameSize, elements: readonly string[]): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  return sharp(image)
    .composite([{ input: drawDocument(frame, elements.join("")) }])
    .removeAlpha();
}
