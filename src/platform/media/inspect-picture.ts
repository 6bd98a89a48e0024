import { type Inspection, refuse } from "./inspection.ts";
import type { MediaType } from "./media-type.ts";

const sideMax = 16_384;
const pixelsMax = 50_000_000;
/** Of all pictures of an animation together. */
const animationPixelsMax = 250_000_000;
export const framesMax = 1000;
const decodeSecondsMax = 30;
const sampleSide = 16;

/** Reads a picture's header, then, if its size is bearable, all of it. */
export async function inspectPicture(path: string, type: Extract<MediaType, { reader: "sharp" }>): Promise<Inspection> {
  const { default: sharp } = await import("sharp");
  // It would keep files open that are removed in a moment.
  sharp.cache(false);
  const options = { failOn: "error", limitInputPixels: animationPixelsMax, sequentialRead: true } as const;
  try {
    const { format, width, height, pageHeight = height, pages = 1, autoOrient } = await sharp(path, options).metadata();
    if (format !== type.name) return refuse(`is damaged, or not the ${type.name.toUpperCase()} that it begins as`);
    if (width > sideMax || pageHeight > sideMax || width * pageHeight > pixelsMax) {
      return refuse(`has more than ${pixelsMax / 1e6} megapixels or ${sideMax} pixels on a side`);
    }
    if (pages > framesMax || width * pageHeight * pages > animationPixelsMax) {
      return refuse(`has more than ${framesMax} frames or ${animationPixelsMax / 1e6} megapixels in all of them`);
    }
    await sharp(path, { ...options, pages: pages > 1 ? -1 : 1 })
      .timeout({ seconds: decodeSecondsMax })
      .resize(sampleSide, sampleSide, { fit: "fill" })
      .raw()
      .toBuffer();
    const seen = pages > 1 ? { width, height: pageHeight } : autoOrient;
    return {
      kind: "accepted",
      media: { kind: "image", contentType: type.contentType, width: seen.width, height: seen.height, durationMs: null },
    };
  } catch (error) {
    // Whatever the decoder complains of, the file is what it complains of.
    return refuse("is damaged or not whole", error);
  }
}
