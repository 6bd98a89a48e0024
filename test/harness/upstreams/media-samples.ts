import { readFileSync } from "node:fs";
import sharp from "sharp";

export type MediaSample = { bytes: Buffer; contentType: string; extension: string };

/** A real image of this size, whose colour depends on its number. */
export async function makePicture({ width, height }: { width: number; height: number }, number: number) {
  const background = { r: (number * 67) % 256, g: (number * 131) % 256, b: (number * 29) % 256 };
  const bytes = await sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
  return { bytes, contentType: "image/png", extension: "png" } satisfies MediaSample;
}

/** One second of moving colours with a tone: H.264 and AAC. */
export const film = read("film.mp4", "video/mp4", "mp4");

/** One second of a tone. */
export const voice = read("voice.mp3", "audio/mpeg", "mp3");

function read(name: string, contentType: string, extension: string): MediaSample {
  return { bytes: readFileSync(new URL(`media/${name}`, import.meta.url)), contentType, extension };
}
