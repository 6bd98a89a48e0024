import { invariant } from "../../../lib/invariant.ts";

export type PictureSize = { width: number; height: number };

/** How an image is brought into a frame: so large that it covers it, or whole, on a blurred copy of itself. */
export type Placement = PictureSize & { kind: "cover" | "fit" };

const longSideMin = 160;
const longSideMax = 1920;
/** Where ratios differ by less, what is cut off is not missed. */
const croppedRatioMax = 1.2;

/** As large as the largest clip allows, with sides that the encoder can halve. */
export function chooseFrame(aspectRatio: string, clips: readonly PictureSize[]): PictureSize {
  const match = /^([1-9]\d{0,3}):([1-9]\d{0,3})$/.exec(aspectRatio);
  invariant(match !== null, "the aspect ratio was checked before");
  const ratio = Number(match[1]) / Number(match[2]);
  return fitFrame(ratio, clips, { longSideMin, longSideMax });
}

/** The largest frame of the ratio that lies within one of the images, between the bounds. */
export function fitFrame(
  ratio: number,
  pictures: readonly PictureSize[],
  bounds: { longSideMin: number; longSideMax: number },
): PictureSize {
  const width = Math.max(...pictures.map((picture) => Math.min(picture.width, picture.height * ratio)));
  const longSide = Math.min(bounds.longSideMax, Math.max(bounds.longSideMin, width, width / ratio));
  const long = roundEven(longSide);
  return ratio >= 1
    ? { width: long, height: roundEven(longSide / ratio) }
    : { width: roundEven(longSide * ratio), height: long };
}

export function placePicture(picture: PictureSize, frame: PictureSize): Placement {
  const [scaleX, scaleY] = [frame.width / picture.width, frame.height / picture.height];
  const isCover = Math.max(scaleX, scaleY) / Math.min(scaleX, scaleY) <= croppedRatioMax;
  const scale = isCover ? Math.max(scaleX, scaleY) : Math.min(scaleX, scaleY);
  const round = isCover ? Math.max : Math.min;
  return {
    kind: isCover ? "cover" : "fit",
    width: round(frame.width, roundEven(picture.width * scale)),
    height: round(frame.height, roundEven(picture.height * scale)),
  };
}

function roundEven(side: number): number {
  return Math.max(2, 2 * Math.round(side / 2));
}
