// A process of its own for each image that becomes another format, as for each that is read: see picture-process.ts.
// Its words are the format and the quality; the image comes in by standard input and goes out by standard output.
import { buffer } from "node:stream/consumers";
import sharp, { type Sharp } from "sharp";

const [name, quality] = process.argv.slice(2);
const options = { quality: Number(quality) };
const picture = sharp(await buffer(process.stdin), { failOn: "error", sequentialRead: true }).autoOrient();
process.stdout.write(await encode().toBuffer());

function encode(): Sharp {
  if (name === "png") return picture.png();
  if (name === "webp") return picture.webp(options);
  // It has no transparency: what shows through is paper.
  return picture.flatten({ background: "white" }).jpeg(options);
}
