import type { Sharp } from "sharp";
import sharp from "sharp";

/** The guide shows them less than half as wide, and none of its pages may weigh more than 300 kB. */
const widthMax = 1000;

/** A drawn sheet as the guide and the README show it. */
export async function writePicture(sheet: Sharp, path: string): Promise<void> {
  const drawn = await sheet.png().toBuffer();
  const scaled = sharp(drawn).resize({ width: widthMax, withoutEnlargement: true });
  await scaled.jpeg({ quality: 70, mozjpeg: true }).toFile(path);
}
