import { isRightToLeft } from "./drawable-text.ts";

export type SetLine = {
  text: string;
  x: number;
  y: number;
  size: number;
  fill: string;
  opacity?: number;
  spacing?: number;
};

/** A line of SVG text centered at `x` with its baseline at `y`. Pango handles shaping and right-to-left text. */
export function setLine({ text, x, y, size, fill, opacity = 1, spacing = 0 }: SetLine): string {
  const direction = isRightToLeft(text) ? "rtl" : "ltr";
  // Letter spacing would break cursive scripts.
  const isJoined = /[\p{Script=Arabic}\p{Script=Syriac}]/u.test(text);
  const letters = spacing === 0 || isJoined ? "" : ` letter-spacing="${round(spacing * size)}"`;
  return `<text x="${round(x)}" y="${round(y)}" font-size="${round(size)}" fill="${fill}" fill-opacity="${opacity}" direction="${direction}" text-anchor="middle"${letters}>${escapeMarkup(text)}</text>`;
}

export function drawDocument({ width, height }: { width: number; height: number }, elements: string): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans">${elements}</svg>`,
  );
}

/** Two decimals suffice and keep documents short. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
