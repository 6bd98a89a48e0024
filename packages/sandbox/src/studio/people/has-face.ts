import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openPhoto } from "../image/grade-photos.ts";
import { readFaceWeights, scoreFace } from "./face-network.ts";

/**
 * The sides to which an image is scaled, and the score that a face has at least. Only images without a face take all of
 * them. An accepted animal is better than a refused person (the README has the rates).
 */
const passes = [
  { side: 224, scoreMin: 0.3 },
  { side: 416, scoreMin: 0.5 },
  { side: 608, scoreMin: 0.4 },
] as const;

/** Whether the image shows a face, photographed or drawn. Throws if it is not an image. */
export async function hasFace(path: string): Promise<boolean> {
  const weights = readFaceWeights(await readFile(join(import.meta.dirname, "face-weights.bin")));
  const photo = await openPhoto(path);
  for (const { side, scoreMin } of passes) {
    const pixels = await photo
      .clone()
      .flatten({ background: "#808080" })
      .toColourspace("srgb")
      .resize(side, side, { fit: "contain", background: "#000000" })
      .removeAlpha()
      .raw()
      .toBuffer();
    if (scoreFace(pixels, side, weights) >= scoreMin) return true;
  }
  return false;
}
