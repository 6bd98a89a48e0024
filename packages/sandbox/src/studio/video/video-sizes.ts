export const framesPerSecond = 24;

const pixelsPerFrame = 921_600;
const ratioMax = 4;

/** Sizes with exactly the ratio of their name. */
const knownSizes: Readonly<Record<string, readonly [width: number, height: number]>> = {
  "16:9": [1280, 720],
  "9:16": [720, 1280],
  "1:1": [960, 960],
  "4:3": [1120, 840],
  "3:4": [840, 1120],
  "3:2": [1176, 784],
  "2:3": [784, 1176],
  "21:9": [1512, 648],
};

/** The size of a video by its aspect ratio, such as `16:9`; `null` if it is invalid or extreme. */
export function findVideoSize(aspectRatio: string): { width: number; height: number } | null {
  const known = Object.hasOwn(knownSizes, aspectRatio) ? knownSizes[aspectRatio] : undefined;
  if (known !== undefined) return { width: known[0], height: known[1] };
  const match = /^([1-9]\d{0,2}):([1-9]\d{0,2})$/.exec(aspectRatio);
  const ratio = match === null ? 0 : Number(match[1]) / Number(match[2]);
  if (ratio < 1 / ratioMax || ratio > ratioMax) return null;
  // The encoder halves the colour resolution, so both sides must be even.
  const even = (side: number): number => 2 * Math.round(side / 2);
  return { width: even(Math.sqrt(pixelsPerFrame * ratio)), height: even(Math.sqrt(pixelsPerFrame / ratio)) };
}
