export type ImageReport =
  | { kind: "too-many-pixels" }
  | { kind: "too-many-frames" }
  | { kind: "unreadable"; complaint: string }
  /** Decoded completely; size as displayed. */
  | { kind: "read"; format: string; width: number; height: number };

export const sideMax = 16_384;
export const pixelsMax = 50_000_000;
/** Of all frames together. */
export const animationPixelsMax = 250_000_000;
export const framesMax = 1000;
const decodeSecondsMax = 30;
const sampleSide = 16;

/** Reads the header and, within limits, decodes all of it. Only for confined processes. */
export async function readImage(bytes: Buffer): Promise<ImageReport> {
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
    // Every decoder error is about the file.
    return { kind: "unreadable", complaint: String(error) };
  }
}
