/** What a decoder found in an image; what is made of it is decided elsewhere. */
export type PictureReport =
  | { kind: "too-many-pixels" }
  | { kind: "too-many-frames" }
  | { kind: "unreadable"; complaint: string }
  /** Read to its end; as large as it is shown. */
  | { kind: "read"; format: string; width: number; height: number };

export const sideMax = 16_384;
export const pixelsMax = 50_000_000;
/** Of all images of an animation together. */
export const animationPixelsMax = 250_000_000;
export const framesMax = 1000;
const decodeSecondsMax = 30;
const sampleSide = 16;

/** Reads an image's header, then, if its size is bearable, all of it. For a confined process only. */
export async function readPicture(bytes: Buffer): Promise<PictureReport> {
  const { default: sharp } = await import("sharp");
  const options = { failOn: "error", limitInputPixels: animationPixelsMax, sequentialRead: true } as const;
  try {
    const seen = await sharp(bytes, options).metadata();
    const { format, width, height, pageHeight = height, pages = 1, autoOrient } = seen;
    if (width > sideMax || pageHeight > sideMax || width * pageHeight > pixelsMax) return { kind: "too-many-pixels" };
    if (pages > framesMax || width * pageHeight * pages > animationPixelsMax) return { kind: "too-many-frames" };
    await sharp(bytes, { ...options, pages: pages > 1 ? -1 : 1 })
      .timeout({ seconds: decodeSecondsMax })
      .resize(sampleSide, sampleSide, { fit: "fill" })
      .raw()
      .toBuffer();
    const shown = pages > 1 ? { width, height: pageHeight } : autoOrient;
    return { kind: "read", format, width: shown.width, height: shown.height };
  } catch (error) {
    // Whatever the decoder complains of, the file is what it complains of.
    return { kind: "unreadable", complaint: String(error) };
  }
}
