import type { FontMetrics } from "../../../../../src/providers/adapter-tools.ts";
import type { Canvas } from "../scenes/scene.ts";
import { drawVerticalGradient, round } from "../scenes/svg-shapes.ts";

const linesMax = 3;
const charactersMax = 400;
const lightToneMin = 165;
/** If the fonts lack more of the text than this, the image has no caption. */
const knownShareMin = 0.7;
/** Combining marks are drawn with the character before them. */
const markPattern = /^[\p{M}\u200c\u200d]$/u;

/**
 * Wraps the prompt into at most three lines by the fonts' widths, without characters that our fonts lack. Empty if too
 * little would be left.
 */
export function wrapCaption(text: string, { widthMax, metrics }: { widthMax: number; metrics: FontMetrics }): string[] {
  const characters = [...text.replace(/[\p{C}\s]+/gu, " ").trim()].slice(0, charactersMax);
  const known = characters.filter((character) => markPattern.test(character) || metrics.findWidth(character) !== null);
  if (characters.length === 0 || known.length / characters.length < knownShareMin) return [];
  const lines: string[] = [];
  let line: string[] = [];
  let width = 0;
  for (const character of known) {
    width += markPattern.test(character) ? 0 : (metrics.findWidth(character) ?? 0);
    line.push(character);
    if (width <= widthMax) continue;
    const kept = takeLine(line);
    lines.push(kept.join("").trim());
    line = line.slice(kept.length);
    width = line.reduce((sum, each) => sum + (metrics.findWidth(each) ?? 0), 0);
    if (lines.length === linesMax) return shorten(lines);
  }
  const rest = line.join("").trim();
  return rest === "" ? lines : [...lines, rest];
}

/** Up to the last space; without one, all but what overflowed. */
function takeLine(line: readonly string[]): string[] {
  const space = line.lastIndexOf(" ");
  return line.slice(0, space > line.length * 0.4 ? space + 1 : Math.max(1, line.length - 1));
}

function shorten(lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === linesMax - 1 ? `${[...line].slice(0, -1).join("").trimEnd()}…` : line));
}

/** A small title in the lower left corner: dark on a light image, else light with a soft shadow. */
export function drawCaption(text: string, { canvas, metrics, isOnLight }: CaptionParts): string {
  const { width, height, unit } = canvas;
  const size = Math.max(9, unit * 2.7);
  const margin = unit * 5;
  const lines = wrapCaption(text, { widthMax: Math.min(width - 2 * margin, size * 36) / size, metrics });
  if (lines.length === 0 || height < size * 8) return "";
  const leading = size * 1.42;
  const top = height - margin - (lines.length - 1) * leading;
  const ink = isOnLight ? "#241f1c" : "#ffffff";
  const rule = `<rect x="${round(margin)}" y="${round(top - size * 1.85)}" width="${round(size * 2.2)}" height="${round(Math.max(1, unit * 0.3))}" fill="${ink}" opacity="0.85"/>`;
  const words = lines.map(
    (line, index) => `<text x="${round(margin)}" y="${round(top + index * leading)}">${escapeText(line)}</text>`,
  );
  const shade = isOnLight ? "" : drawShade(canvas, top - size * 4.5);
  return `${shade}${rule}<g font-family="DejaVu Sans" font-size="${round(size)}" fill="${ink}" fill-opacity="0.95">${words.join("")}</g>`;
}

export type CaptionParts = { canvas: Canvas; metrics: FontMetrics; isOnLight: boolean };

/** Whether the caption's corner is light, in an RGBA frame. */
export function isCornerLight(frame: Uint8Array, { width, height }: Canvas): boolean {
  let sum = 0;
  let count = 0;
  for (let y = Math.floor(height * 0.86); y < height; y += 3) {
    for (let x = 0; x < width * 0.6; x += 3) {
      const at = (y * width + x) * 4;
      sum += 0.3 * (frame[at] ?? 0) + 0.59 * (frame[at + 1] ?? 0) + 0.11 * (frame[at + 2] ?? 0);
      count += 1;
    }
  }
  return sum / Math.max(1, count) > lightToneMin;
}

function drawShade({ width, height }: Canvas, top: number): string {
  const gradient = drawVerticalGradient("shade", [
    [0, "#000000", 0],
    [0.55, "#000000", 0.28],
    [1, "#000000", 0.55],
  ]);
  return `<defs>${gradient}</defs><rect x="0" y="${round(top)}" width="${width}" height="${round(height - top)}" fill="url(#shade)"/>`;
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
