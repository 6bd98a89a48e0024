import { invariant } from "../../../lib/invariant.ts";

export type FrameSize = { width: number; height: number };

/** How an image fills a frame: `cover` crops it, `fit` shows it whole on a blurred copy. */
export type Placement = FrameSize & { kind: "cover" | "fit" };

const longSideMin = 160;
const longSideMax = 1920;
/** Crop only if the ratios differ by less than this. */
const croppedRatioMax = 1.2;

/** As large as the largest clip allows, with even sides for chroma subsampling. */
export function chooseFrame(aspectRatio: string, clips: readonly FrameSize[]): FrameSize {
  const match = /^([1-9]\d{0,3}):([1-9]\d{0,3})$/.exec(aspectRatio);
  invariant(match !== null, "the aspect ratio was checked before");
  const ratio = Number(match[1]) / Number(match[2]);
  return fitFrame(ratio, clips, { longSideMin, longSideMax });
}

/** The largest frame of the ratio that fits into one of the images, within the bounds. */
export function fitFrame(
  ratio: number,
  images: readonly FrameSize[],
  bounds: { longSideMin: number; longSideMax: number },
): FrameSize {
  const width = Math.max(...images.map((image) => Math.min(image.width, image.height * ratio)));
  const longSide = Math.min(bounds.longSideMax, Math.max(bounds.longSideMin, width, width / ratio));
  const long = roundEven(longSide);
  return ratio >= 1
    ? { width: long, height: roundEven(longSide / ratio) }
    : { width: roundEven(longSide * ratio), height: long };
}

export function placeImage(image: FrameSize, frame: FrameSize): Placement {
  const [scaleX, scaleY] = [frame.width / image.width, frame.height / image.height];
  const isCover = Math.max(scaleX, scaleY) / Math.min(scaleX, scaleY) <= croppedRatioMax;
  const scale = isCover ? Math.max(scaleX, scaleY) : Math.min(scaleX, scaleY);
  const round = isCover ? Math.max : Math.min;
  return {
    kind: isCover ? "cover" : "fit",
    width: round(frame.width, roundEven(image.width * scale)),
    height: round(frame.height, roundEven(image.height * scale)),
  };
}

function roundEven(side: number): number {
  return Math.max(2, 2 * Math.round(side / 2));
}
