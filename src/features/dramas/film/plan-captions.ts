import type { FontMetrics } from "../../../platform/text/font-metrics.ts";
import type { FrameSize } from "./choose-frame.ts";
import { takeDrawable } from "./drawable-text.ts";
import type { CaptionStrip, DrawnLine } from "./drawing-order.ts";
import { weighText } from "./reading-time.ts";
import { splitCaption } from "./split-caption.ts";
import { joinAtoms, splitAtoms, wrapAtoms } from "./wrap-text.ts";

/** Sizes in pixels; `widthMax` in units of the font size. */
export type CaptionStyle = { size: number; nameSize: number; leading: number; padding: number; widthMax: number };

/** A cue with its drawable lines: at most two, none if too little is drawable. */
export type PlannedCue = DrawnLine & { lines: readonly string[]; name: string };

const captionLinesMax = 2;

export function chooseCaptionStyle({ width, height }: FrameSize): CaptionStyle {
  // In a portrait frame, the width limits the size.
  const size = Math.max(8, Math.min(height * 0.046, width * 0.05));
  const share = width > height ? 0.72 : 0.86;
  const padding = size * 0.55;
  return { size, nameSize: size * 0.66, leading: size * 1.34, padding, widthMax: (width * share) / size };
}

/**
 * The share of the height below the captions. Phones draw their own buttons and texts over the lowest fifth of a portrait
 * video.
 */
const bottomShare = { landscape: 0.05, square: 0.09, portrait: 0.2 };
const portraitRatioMax = 0.7;

function chooseBottomShare({ width, height }: FrameSize): number {
  if (width > height) return bottomShare.landscape;
  return width / height < portraitRatioMax ? bottomShare.portrait : bottomShare.square;
}

/** Bottom center, in the lower half; even numbers because of chroma subsampling. */
export function placeStrip(
  frame: FrameSize,
  { size, nameSize, leading, padding, widthMax }: CaptionStyle,
): CaptionStrip {
  const even = (value: number): number => 2 * Math.ceil(value / 2);
  const width = Math.min(frame.width, even(widthMax * size + 4 * padding));
  const height = Math.min(frame.height, even(captionLinesMax * leading + nameSize * 1.5 + 2 * padding));
  const margin = frame.height * chooseBottomShare(frame);
  const left = 2 * Math.floor((frame.width - width) / 4);
  return { left, top: Math.max(0, 2 * Math.floor((frame.height - height - margin) / 2)), width, height };
}

/** Splits a line into captions, with times proportional to their reading time. */
export function planCues(line: DrawnLine, { widthMax }: CaptionStyle, metrics: FontMetrics): PlannedCue[] {
  const parts = splitCaption(line.text, { widthMax, metrics });
  const frameCount = line.endFrame - line.startFrame;
  // More captions than frames would be unreadable.
  const texts = parts.length > frameCount ? [line.text] : parts;
  const total = texts.reduce((sum, text) => sum + weighText(text), 0);
  const name = shortenName(line.speaker ?? "", widthMax, metrics);
  let read = 0;
  let startFrame = line.startFrame;
  return texts.map((text, index) => {
    read += weighText(text);
    const share = total === 0 ? 1 : read / total;
    const left = texts.length - 1 - index;
    const endFrame = Math.min(
      line.endFrame - left,
      Math.max(startFrame + 1, line.startFrame + Math.round(frameCount * share)),
    );
    const cue = { speaker: line.speaker, text, startFrame, endFrame, lines: wrapDrawn(text, widthMax, metrics), name };
    startFrame = endFrame;
    return cue;
  });
}

function wrapDrawn(text: string, widthMax: number, metrics: FontMetrics): string[] {
  const atoms = splitAtoms(takeDrawable(text, metrics).text, metrics, widthMax);
  return wrapAtoms(atoms, widthMax).slice(0, captionLinesMax).map(joinAtoms);
}

function shortenName(name: string, widthMax: number, metrics: FontMetrics): string {
  const drawable = takeDrawable(name, metrics).text;
  const [first = []] = wrapAtoms(splitAtoms(drawable, metrics, widthMax), widthMax);
  const shown = joinAtoms(first);
  return shown === drawable ? shown : `${shown}…`;
}
