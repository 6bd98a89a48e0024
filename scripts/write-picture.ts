import type { Sharp } from "sharp";
import sharp from "sharp";

/** The guide shows them at less than half this width, and limits a page to 300 kB. */
const widthMax = 1000;

/** Writes an image for the guide and the README. */
export async function writePicture(sheet: Sharp, path: string): Promise<void> {
  const drawn = await sheet.png().toBuffer();
  const scaled = sharp(drawn).resize({ width: widthMax, withoutEnlargement: true });
  await scaled.jpeg({ quality: 70, mozjpeg: true }).toFile(path);
}
