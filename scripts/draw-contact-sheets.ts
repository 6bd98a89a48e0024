// Writes a contact sheet of each media type of the sandbox studio to docs/media, for visual review.
// Run it after a change to the studio: node scripts/draw-contact-sheets.ts [images] [everyday] [videos] [avatars] [speech]
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { everydayPrompts } from "../packages/sandbox/src/studio/image/everyday-prompts.ts";
import type { GenerationInput } from "../src/providers/generation.ts";
import { drawPortrait } from "../test/harness/media/portrait.ts";
import { asInput, openStudio, runFfmpeg } from "./open-studio.ts";
import { writePicture } from "./write-picture.ts";

type Tile = { image: Buffer; width: number; height: number };

const sheetsDir = join(import.meta.dirname, "../docs/media");
const gap = 8;
const workDir = await mkdtemp(join(tmpdir(), "contact-sheets-"));
const { make, close } = openStudio(join(workDir, "studio"));

const sheets: Record<string, () => Promise<void>> = {
  images: drawImages,
  everyday: drawEveryday,
  videos: drawVideos,
  avatars: drawAvatars,
  speech: drawSpeech,
};

await mkdir(sheetsDir, { recursive: true });
const wanted = process.argv.slice(2);
for (const [name, draw] of Object.entries(sheets)) if (wanted.length === 0 || wanted.includes(name)) await draw();
await close();
await rm(workDir, { recursive: true, force: true });

async function drawImages(): Promise<void> {
  const prompts: [prompt: string, width: number, height: number][] = [
    ["A lighthouse on a stormy coast at dusk", 1024, 768],
    ["Snowy mountains above a quiet lake at sunrise", 1024, 768],
    ["Neon city in the rain, cyberpunk", 1024, 768],
    ["A cat looking at the stars", 768, 1024],
    ["Misty forest in the morning", 768, 1024],
    ["A bouquet of wild flowers in a vase", 768, 1024],
    ["Bauhaus poster with circles", 768, 1024],
    ["A planet with rings and a rocket", 1024, 768],
    ["Balloons over green hills in summer", 1024, 768],
    ["海上的帆船，日落", 1024, 768],
    ["Сахара, песчаные дюны, пустыня", 1024, 768],
    ["Northern lights over a cabin", 1024, 768],
    ["The quarterly report", 1024, 1024],
  ];
  const rows: Tile[][] = [[], [], [], []];
  for (const [index, [prompt, width, height]] of prompts.entries()) {
    const [image] = await make({ type: "image", prompt, width, height, count: 1 });
    if (image === undefined) continue;
    rows[[0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3][index] ?? 3]?.push(await scaleTo(image, 330));
  }
  const portrait = await drawPortrait(768, 768);
  const [graded] = await make(
    { type: "image", prompt: "A portrait at golden hour", width: 768, height: 768, count: 1 },
    [asInput("image", portrait, "image/png")],
  );
  if (graded !== undefined) rows[3]?.push(await scaleTo(graded, 330));
  await writeSheet("images.jpg", rows);
}

async function drawEveryday(): Promise<void> {
  const columns = 6;
  const tiles: Tile[] = [];
  for (const [prompt] of everydayPrompts) {
    const [image] = await make({ type: "image", prompt, width: 512, height: 384, count: 1 });
    if (image !== undefined) tiles.push(await scaleTo(image, 210));
  }
  const rows = Array.from({ length: Math.ceil(tiles.length / columns) }, (_, row) =>
    tiles.slice(row * columns, (row + 1) * columns),
  );
  await writeSheet("everyday.jpg", rows);
}

async function drawVideos(): Promise<void> {
  const videos: [prompt: string, aspectRatio: string, inputs: GenerationInput[]][] = [
    ["A sailing boat at sunset", "16:9", []],
    ["Tokyo at night in the rain", "1:1", []],
    ["Fireflies in a misty forest", "9:16", []],
    ["A slow look at the portrait", "16:9", [asInput("image", await drawPortrait(1280, 960), "image/png")]],
  ];
  const rows: Tile[][] = [];
  for (const [prompt, aspectRatio, inputs] of videos) {
    const [video] = await make({ type: "video", prompt, durationSeconds: 5, aspectRatio }, inputs);
    if (video === undefined) continue;
    const frames = await takeFrames(video, [0, 1.25, 2.5, 3.75, 4.9], 210);
    // Place narrow ones beside the previous one.
    if (aspectRatio === "9:16") rows.at(-1)?.push(...frames);
    else rows.push(frames);
  }
  await writeSheet("videos.jpg", rows);
}

async function drawAvatars(): Promise<void> {
  const person = asInput("person", await drawPortrait(960, 1200), "image/png");
  const speech = { type: "speech", voice: "nova", format: "wav", speed: 1 } as const;
  const [voice] = await make({ ...speech, text: "Hello! I am made on this machine, without any network." });
  const [walk] = await make({ type: "video", prompt: "A walk in the meadow", durationSeconds: 2, aspectRatio: "16:9" });
  if (voice === undefined || walk === undefined) return;
  const audio = asInput("audio", voice, "audio/wav");
  const rows: Tile[][] = [];
  for (const [aspectRatio, inputs] of [
    ["9:16", [person, audio]],
    ["16:9", [person, audio]],
    ["16:9", [asInput("person", walk, "video/mp4"), audio]],
  ] as const) {
    const [video] = await make({ type: "avatar", aspectRatio }, inputs);
    if (video !== undefined) rows.push(await takeFrames(video, [0.1, 0.6, 1.1, 1.7, 2.6], 240));
  }
  await writeSheet("avatars.jpg", rows);
}

async function drawSpeech(): Promise<void> {
  const rows: Tile[][] = [];
  const texts: [voice: string, text: string, speed: number][] = [
    ["alloy", "The quick brown fox jumps over the lazy dog.", 1],
    ["echo", "The quick brown fox jumps over the lazy dog.", 1],
    ["nova", "The quick brown fox jumps over the lazy dog.", 1],
    ["nova", "The quick brown fox jumps over the lazy dog.", 0.5],
    ["nova", "你好，世界。今天天气很好。", 1],
  ];
  for (const [voice, text, speed] of texts) {
    const [audio] = await make({ type: "speech", text, voice, format: "wav", speed });
    if (audio === undefined) continue;
    const path = join(workDir, "speech.wav");
    await writeFile(path, audio);
    const input = ["-f", "wav", "-i", `file:${path}`, "-filter_complex"];
    const output = ["-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "pipe:1"];
    const wave = await runFfmpeg([...input, "showwavespic=s=620x150:colors=0xf0803c", ...output]);
    const spectrum = await runFfmpeg([...input, "showspectrumpic=s=620x150:legend=0:color=fire:stop=8000", ...output]);
    rows.push([await scaleTo(wave, 150), await scaleTo(spectrum, 150)]);
  }
  await writeSheet("speech.png", rows);
}

async function takeFrames(video: Buffer, seconds: readonly number[], height: number): Promise<Tile[]> {
  const path = join(workDir, "video.mp4");
  await writeFile(path, video);
  const frames: Tile[] = [];
  for (const second of seconds) {
    const frame = await runFfmpeg([
      "-ss",
      String(second),
      "-f",
      "mov",
      "-i",
      `file:${path}`,
      "-frames:v",
      "1",
      "-f",
      "image2pipe",
      "-c:v",
      "png",
      "pipe:1",
    ]);
    frames.push(await scaleTo(frame, height));
  }
  return frames;
}

async function scaleTo(image: Buffer, height: number): Promise<Tile> {
  const { data, info } = await sharp(image).resize({ height }).png().toBuffer({ resolveWithObject: true });
  return { image: data, width: info.width, height: info.height };
}

async function writeSheet(name: string, rows: readonly (readonly Tile[])[]): Promise<void> {
  const width = Math.max(...rows.map((row) => row.reduce((sum, tile) => sum + tile.width + gap, gap)));
  let top = gap;
  const places = rows.flatMap((row) => {
    let left = gap;
    const placed = row.map((tile) => {
      const place = { input: tile.image, left, top };
      left += tile.width + gap;
      return place;
    });
    top += Math.max(0, ...row.map(({ height }) => height)) + gap;
    return placed;
  });
  const path = join(sheetsDir, name);
  const sheet = sharp({ create: { width, height: top, channels: 3, background: "#17181c" } }).composite(places);
  if (name.endsWith(".jpg")) await writePicture(sheet, path);
  else await sheet.png({ palette: true }).toFile(path);
  console.log(`${path}: ${Math.round((await stat(path)).size / 1024)} kB`);
}
