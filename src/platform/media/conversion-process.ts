// Converts one image from standard input to standard output, in a confined process of its own (see image-process.ts).
// Arguments: format, quality, longest side (0 for any).
import { buffer } from "node:stream/consumers";
import sharp, { type Sharp } from "sharp";

const [name, quality, side] = process.argv.slice(2);
const options = { quality: Number(quality) };
const whole = sharp(await buffer(process.stdin), { failOn: "error", sequentialRead: true }).autoOrient();
const sideMax = Number(side);
const image =
  sideMax === 0 ? whole : whole.resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true });
process.stdout.write(await encode().toBuffer());

function encode(): Sharp {
  if (name === "png") return image.png();
  if (name === "webp") return image.webp(options);
  // JPEG has no transparency.
  return image.flatten({ background: "white" }).jpeg(options);
}
