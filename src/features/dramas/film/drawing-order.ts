import type { FrameSize } from "./choose-frame.ts";

/** The drawing process's input, as JSON on standard input. */
export type DrawingOrder = {
  frame: FrameSize;
  title: string;
  /** Such as `Episode 3`. */
  episodeLabel: string;
  imagePath: string;
  folder: string;
  /** Whether captions are drawn, or only their texts and times planned. */
  hasCaptions: boolean;
  shots: readonly { lines: readonly DrawnLine[] }[];
};

/** Frame numbers are relative to the shot. */
export type DrawnLine = { speaker: string | null; text: string; startFrame: number; endFrame: number };

/** The drawing process's output, as JSON on standard output. */
export type DrawingAnswer = {
  titleName: string;
  posterName: string;
  strip: CaptionStrip;
  shots: readonly { cues: readonly DrawnLine[]; sheets: readonly DrawnSheet[] }[];
  undrawable: readonly string[];
};

/** The position of captions in the frame. */
export type CaptionStrip = { left: number; top: number; width: number; height: number };

/** An image with one row per caption, each as high as the strip, below an empty row. */
export type DrawnSheet = { name: string; rows: readonly { startFrame: number; endFrame: number }[] };
