import type { PictureReader } from "./create-picture-reader.ts";
import { type Inspection, refuse } from "./inspection.ts";
import type { MediaType } from "./media-type.ts";
import { animationPixelsMax, framesMax, pixelsMax, sideMax } from "./read-picture.ts";

/** Has an image read to its end, elsewhere, and decides by what was found. */
export async function inspectPicture(
  path: string,
  type: Extract<MediaType, { reader: "sharp" }>,
  { pictures, signal }: { pictures: PictureReader; signal: AbortSignal },
): Promise<Inspection> {
  const report = await pictures.read(path, signal);
  switch (report.kind) {
    case "too-many-pixels":
      return refuse(`has more than ${pixelsMax / 1e6} megapixels or ${sideMax} pixels on a side`);
    case "too-many-frames":
      return refuse(`has more than ${framesMax} frames or ${animationPixelsMax / 1e6} megapixels in all of them`);
    case "unreadable":
      return refuse("is damaged or not whole", report.complaint);
    case "read": {
      const { format, width, height } = report;
      if (format !== type.name) return refuse(`is damaged, or not the ${type.name.toUpperCase()} that it begins as`);
      const { contentType } = type;
      return { kind: "accepted", media: { kind: "image", contentType, width, height, durationMs: null } };
    }
  }
}
