import { join } from "node:path";
import type { FontMetrics } from "../../../platform/text/font-metrics.ts";
import type { CaptionStrip, DrawnSheet } from "./drawing-order.ts";
import type { CaptionStyle, PlannedCue } from "./plan-captions.ts";
import { drawDocument, round, setLine } from "./set-text.ts";
import { measureAtoms, splitAtoms } from "./wrap-text.ts";

type Sheets = { strip: CaptionStrip; style: CaptionStyle; metrics: FontMetrics; folder: string; shotNumber: number };

/** At 1920 pixels, a sheet of this many captions takes 25 MB decoded. */
const rowsMax = 32;

/** Draws a shot's captions on as many sheets as needed. */
export async function drawSheets(cues: readonly PlannedCue[], sheets: Sheets): Promise<DrawnSheet[]> {
  const shown = cues
    .map((cue, index) => ({ ...cue, endFrame: Math.min(cue.endFrame, cues[index + 1]?.startFrame ?? cue.endFrame) }))
    .filter(({ lines, startFrame, endFrame }) => lines.length > 0 && endFrame > startFrame);
  const drawn: DrawnSheet[] = [];
  for (let from = 0; from < shown.length; from += rowsMax) {
    const rows = shown.slice(from, from + rowsMax);
    const name = `captions-${sheets.shotNumber}-${drawn.length}.png`;
    await drawSheet(rows, join(sheets.folder, name), sheets);
    drawn.push({ name, rows: rows.map(({ startFrame, endFrame }) => ({ startFrame, endFrame })) });
  }
  return drawn;
}

async function drawSheet(rows: readonly PlannedCue[], path: string, sheets: Sheets): Promise<void> {
  const { width, height } = sheets.strip;
  const { default: sharp } = await import("sharp");
  const elements = rows.map((cue, index) => drawCue(cue, (index + 1) * height, sheets)).join("");
  const document = drawDocument({ width, height: height * (rows.length + 1) }, elements);
  await sharp(document, { limitInputPixels: 256_000_000, unlimited: true })
    .ensureAlpha()
    .png({ compressionLevel: 1 })
    .toFile(path);
}

/** White text on a soft dark box, with the speaker's name above in small type. */
function drawCue({ lines, name }: PlannedCue, top: number, { strip, style, metrics }: Sheets): string {
  const { size, nameSize, leading, padding, widthMax } = style;
  const measure = (text: string): number => measureAtoms(splitAtoms(text, metrics, Number.POSITIVE_INFINITY));
  const nameHeight = name === "" ? 0 : nameSize * 1.5;
  const textWidth = Math.max(...lines.map((line) => measure(line) * size), measure(name) * nameSize * 1.08);
  const boxWidth = Math.min(strip.width, Math.min(textWidth, widthMax * size * 1.05) + 3.2 * padding);
  const boxHeight = lines.length * leading + nameHeight + 1.5 * padding;
  const bottom = top + strip.height;
  const middle = strip.width / 2;
  const box = `<rect x="${round(middle - boxWidth / 2)}" y="${round(bottom - boxHeight)}" width="${round(boxWidth)}" height="${round(boxHeight)}" rx="${round(size * 0.42)}" fill="#0b0d12" fill-opacity="0.62"/>`;
  const first = bottom - boxHeight + 0.75 * padding + nameHeight + leading * 0.76;
  const words = lines.map((text, index) =>
    setLine({ text, x: middle, y: first + index * leading, size, fill: "#ffffff" }),
  );
  if (name === "") return box + words.join("");
  const y = bottom - boxHeight + 0.75 * padding + nameSize * 1.05;
  return `${box}${setLine({ text: name, x: middle, y, size: nameSize, fill: "#f2c879", spacing: 0.04 })}${words.join("")}`;
}
