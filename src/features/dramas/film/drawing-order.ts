import type { PictureSize } from "./choose-frame.ts";

/** What the drawing process is told: all it needs, as JSON on its standard input. */
export type DrawingOrder = {
  frame: PictureSize;
  title: string;
  /** As in `Episode 3`. */
  episodeLabel: string;
  picturePath: string;
  folder: string;
  shots: readonly { lines: readonly DrawnLine[] }[];
};

/** Frames are counted from the beginning of the shot. */
export type DrawnLine = { speaker: string | null; text: string; startFrame: number; endFrame: number };

/** What it answers: one JSON document on its standard output. */
export type DrawingAnswer = {
  titleName: string;
  posterName: string;
  strip: CaptionStrip;
  shots: readonly { cues: readonly DrawnLine[]; sheets: readonly DrawnSheet[] }[];
  undrawable: readonly string[];
};

/** Where captions stand in the frame. */
export type CaptionStrip = { left: number; top: number; width: number; height: number };

/** An image with captions below each other, each as high as the strip, after an empty one. */
export type DrawnSheet = { name: string; rows: readonly { startFrame: number; endFrame: number }[] };
