// @module-tag extended
import sharp from "sharp";
import { expect, test } from "vitest";
import { runMediaTool } from "../../../src/platform/media/run-media-tool.ts";
import { analyseSpeech } from "../../harness/media/analyse-speech.ts";
import { drawPortrait } from "../../harness/media/portrait.ts";
import {
  compareBytes,
  createInput,
  openTestStudio,
  readFrames,
  readSamples,
  studioMsMax,
  type TestStudio,
} from "../../harness/media/test-studio.ts";

const plain = "No captions, no text, no watermark.";
const film = { type: "video", prompt: "", durationSeconds: 2, aspectRatio: "16:9" } as const;

/** A white disc on black, which is easy to track. */
async function drawDisc(): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1536" height="1024"><rect width="100%" height="100%" fill="#202020"/><circle cx="768" cy="512" r="200" fill="#ffffff"/></svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

function drawFlat(colour: string): Promise<Buffer> {
  return sharp({ create: { width: 768, height: 512, channels: 3, background: colour } })
    .png()
    .toBuffer();
}

async function shoot(studio: TestStudio, prompt: string, photo: Buffer): Promise<{ path: string; bytes: Buffer }> {
  const [bytes = Buffer.alloc(0)] = await studio.make({ ...film, prompt }, [createInput("image", photo, "image/png")]);
  return { bytes, path: await studio.keep(bytes, "film.mp4") };
}

/** The disc's position and size in a small grey frame. */
function findDisc(frame: Buffer | undefined): { x: number; count: number } {
  const bright = [...(frame ?? [])].flatMap((value, index) => (value > 128 ? [index % 64] : []));
  return { x: bright.reduce((sum, x) => sum + x, 0) / Math.max(1, bright.length), count: bright.length };
}

test("the camera follows its directions: in, out, left, right, still", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const photo = await drawDisc();
  const follow = async (words: string) => {
    const { path } = await shoot(studio, `Medium shot, ${words}. A room. ${plain}`, photo);
    const frames = await readFrames(path, 12);
    const [first, last] = [findDisc(frames[0]), findDisc(frames.at(-1))];
    return { growth: last.count / first.count, shift: last.x - first.x };
  };
  const [inward, outward] = [await follow("slowly moving in"), await follow("moving out")];
  expect(inward.growth).toBeGreaterThan(1.2);
  expect(outward.growth).toBeLessThan(0.85);
  const gentle = Math.abs(Math.log((await follow("two people")).growth));
  expect(gentle).toBeGreaterThan(0.1);
  expect(gentle).toBeLessThan(0.42);
  const [left, right, still] = [await follow("pan left"), await follow("pan right"), await follow("still")];
  // The subject moves the other way.
  expect(left.shift).toBeGreaterThan(3);
  expect(right.shift).toBeLessThan(-3);
  for (const { growth } of [left, right, still]) expect(Math.abs(growth - 1)).toBeLessThan(0.12);
  expect(Math.abs(still.shift)).toBeLessThan(1);
});

test("rain falls over an image if the scene has it, and nothing moves if it has none", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const photo = await drawFlat("#303030");
  const move = async (setting: string): Promise<number> => {
    const { path } = await shoot(studio, `Still. ${setting} ${plain}`, photo);
    const frames = await readFrames(path, 6);
    return frames.slice(1).reduce((sum, frame, index) => sum + compareBytes(frame, frames[index] ?? frame), 0);
  };
  const [wet, dry] = [await move("A street in the rain."), await move("A street by day.")];
  expect(dry).toBeLessThan(0.5);
  expect(wet).toBeGreaterThan(dry + 1);
});

test("a shot has no caption and no music, only quiet ambience; the same shot is the same video", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const photo = await drawFlat("#102030");
  const find = async (prompt: string) => {
    const { path, bytes } = await shoot(studio, prompt, photo);
    const [frame = Buffer.alloc(0)] = (await readFrames(path, 1)).slice(1);
    const { levelDb } = analyseSpeech(await readSamples(path, "mov"));
    return { bytes, levelDb, brightest: Math.max(...frame.subarray(48 * 64)) };
  };
  const shot = await find(`Medium shot. A street by day. ${plain}`);
  const other = await find("A street by day with a rather long caption that can be seen well enough");
  expect(other.brightest).toBeGreaterThan(shot.brightest + 15);
  expect(shot.levelDb).toBeLessThan(-30);
  expect(shot.levelDb).toBeGreaterThan(-60);
  expect(other.levelDb).toBeGreaterThan(-30);
  expect((await find(`Medium shot. A street by day. ${plain}`)).bytes.equals(shot.bytes)).toBe(true);
});

/** Avatars need a face: a small one in the corner leaves the middle and the lower edge as they are. */
async function addPortrait(picture: Buffer): Promise<Buffer> {
  const { width, height } = await sharp(picture).metadata();
  const side = Math.round(Math.min(width, height) * 0.4);
  return sharp(picture)
    .composite([{ input: await drawPortrait(side, side), left: 0, top: 0 }])
    .png()
    .toBuffer();
}

/** Black and white stripes, horizontal or vertical. */
function drawStripes(direction: "lying" | "standing"): Promise<Buffer> {
  const [width, height] = direction === "lying" ? [960, 30] : [30, 960];
  const stripes = Array.from({ length: 16 }, (_, index) =>
    direction === "lying"
      ? `<rect x="0" y="${index * 60}" width="${width}" height="${height}"/>`
      : `<rect x="${index * 60}" y="0" width="${width}" height="${height}"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="960"><rect width="100%" height="100%" fill="#ffffff"/>${stripes.join("")}</svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

test("while the voice plays the camera moves in, and the mouth opens in the middle of the image only", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const speech = { type: "speech", text: "One two three four.", voice: "nova", format: "wav", speed: 1 } as const;
  const [voice = Buffer.alloc(0)] = await studio.make(speech);
  const silence = Buffer.from(voice).fill(0, 44);
  const show = async (picture: Buffer, audio: Buffer): Promise<Buffer[]> => {
    const person = createInput("person", await addPortrait(picture), "image/png");
    const inputs = [person, createInput("audio", audio, "audio/wav")];
    const [bytes = Buffer.alloc(0)] = await studio.make({ type: "avatar", aspectRatio: "1:1" }, inputs);
    return readFrames(await studio.keep(bytes, "avatar.mp4"), 12);
  };
  // A row of horizontal stripes is uniform unless something bends it.
  const lying = await drawStripes("lying");
  const bend = (frames: Buffer[]): number =>
    Math.max(...frames.map((frame) => Math.abs((frame[34 * 64 + 32] ?? 0) - (frame[34 * 64 + 2] ?? 0))));
  expect(bend(await show(lying, voice))).toBeGreaterThan(bend(await show(lying, silence)) + 12);
  // Vertical stripes do not show the camera's nod, only its zoom.
  const standing = await drawStripes("standing");
  const move = (frames: Buffer[]): number =>
    frames.slice(1).reduce((sum, frame, index) => sum + compareBytes(frame, frames[index] ?? frame), 0);
  expect(move(await show(standing, voice))).toBeGreaterThan(1.5 * move(await show(standing, silence)));
});

/** The mean colour of the lowest rows of a video, one second after its start. */
async function readFoot(path: string): Promise<number[]> {
  const args = ["-ss", "0.5", "-f", "mov", "-i", `file:${path}`, "-frames:v", "1"];
  const { stdout } = await runMediaTool({
    tool: "ffmpeg",
    source: "ours",
    args: [...args, "-vf", "crop=iw:ih/6:0:ih*5/6,scale=1:1", "-pix_fmt", "rgb24", "-f", "rawvideo", "pipe:1"],
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    stdoutBytesMax: 100,
  });
  return [...stdout];
}

test("an avatar shows the whole image in its own colours, down to the lower edge", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const [voice = Buffer.alloc(0)] = await studio.make({
    type: "speech",
    text: "One two three four.",
    voice: "nova",
    format: "wav",
    speed: 1,
  });
  const [bytes = Buffer.alloc(0)] = await studio.make({ type: "avatar", aspectRatio: "16:9" }, [
    createInput("person", await addPortrait(await drawFlat("#c05020")), "image/png"),
    createInput("audio", voice, "audio/wav"),
  ]);
  const foot = await readFoot(await studio.keep(bytes, "avatar.mp4"));
  for (const [index, value] of [0xc0, 0x50, 0x20].entries()) {
    expect(Math.abs((foot[index] ?? 0) - value)).toBeLessThan(8);
  }
});
