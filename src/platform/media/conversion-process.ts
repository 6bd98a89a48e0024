// A process of its own for each image that becomes another format, as for each that is read: see picture-process.ts.
// Its words are the format, the quality and the longest side that is wanted, 0 for any; the image comes in by standard input
// and goes out by standard output.
import { buffer } from "node:stream/consumers";
import sharp, { type Sharp } from "sharp";

const [name, quality, side] = process.argv.slice(2);
const options = { quality: Number(quality) };
const whole = sharp(await buffer(process.stdin), { failOn: "error", sequentialRead: true }).autoOrient();
const sideMax = Number(side);
const picture =
  sideMax === 0 ? whole : whole.resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true });
process.stdout.write(await encode().toBuffer());

function encode(): Sharp {
  if (name === "png") return picture.png();
  if (name === "webp") return picture.webp(options);
  // It has no transparency: what shows through is paper.
  return picture.flatten({ background: "white" }).jpeg(options);
}
