import type { Readable } from "node:stream";

/** `quality` is a percentage, of formats that lose something. */
export type PictureFormat = { name: "png" | "jpeg" | "webp"; quality?: number };

const convertSecondsMax = 60;
/** What is not told is kept as well as eyes can see. */
const qualityUsual = 95;

/** A picture that was inspected, as another format: upright, without anything hidden, the first of several frames. */
export async function convertPicture(path: string, { name, quality }: PictureFormat): Promise<Readable> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  const picture = sharp(path, { failOn: "error", sequentialRead: true }).timeout({ seconds: convertSecondsMax });
  if (name === "png") return picture.autoOrient().png();
  const options = { quality: Math.max(1, quality ?? qualityUsual) };
  if (name === "webp") return picture.autoOrient().webp(options);
  // It has no transparency: what shows through is paper.
  return picture.autoOrient().flatten({ background: "white" }).jpeg(options);
}
