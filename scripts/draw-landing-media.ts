// Creates the landing page's media in the sandbox and writes small versions to web/src/pages/landing/media.
// Run it after a change to the studio: node scripts/draw-landing-media.ts
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { drawPortrait } from "../test/harness/media/portrait.ts";
import { asInput, openStudio, runFfmpeg } from "./open-studio.ts";

const mediaDir = join(import.meta.dirname, "../web/src/pages/landing/media");
const dramaPath = join(import.meta.dirname, "../docs/media/drama.mp4");
const workDir = await mkdtemp(join(tmpdir(), "landing-media-"));
const { make, close } = openStudio(join(workDir, "studio"));

const images: [name: string, prompt: string, width: number, height: number][] = [
  ["lighthouse", "A lighthouse on a stormy coast at dusk", 1024, 768],
  ["planet", "A planet with rings and a rocket", 1024, 768],
  ["flowers", "A bouquet of wild flowers in a vase", 768, 1024],
  ["northern-lights", "Northern lights over a cabin", 1024, 768],
  ["city", "Neon city in the rain, cyberpunk", 1024, 768],
  ["balloons", "Balloons over green hills in summer", 1024, 768],
];
const imageWidth = 560;
const imageQuality = 74;
const videoHeight = 480;

await mkdir(mediaDir, { recursive: true });
for (const [name, prompt, width, height] of images) {
  const [image] = await make({ type: "image", prompt, width, height, count: 1 });
  if (image !== undefined) await writeImage(name, image);
}
const [boat] = await make({
  type: "video",
  prompt: "A sailing boat at sunset",
  durationSeconds: 5,
  aspectRatio: "16:9",
});
if (boat !== undefined) await writeVideo("boat", await keep("boat", boat), { from: 0, seconds: 5, posterAt: 1 });
const [voice] = await make({ type: "speech", text: "Hello! I was made from one picture and a voice.", ...nova() });
if (voice !== undefined) {
  const person = asInput("person", await drawPortrait(960, 1200), "image/png");
  const [avatar] = await make({ type: "avatar", aspectRatio: "9:16" }, [person, asInput("audio", voice, "audio/wav")]);
  if (avatar !== undefined)
    await writeVideo("avatar", await keep("avatar", avatar), { from: 0, seconds: 5, posterAt: 1 });
}
// A short excerpt; the docs have the whole video.
await writeVideo("drama", dramaPath, { from: 3, seconds: 14, posterAt: 6 });
await close();
await rm(workDir, { recursive: true, force: true });
for (const name of await readdir(mediaDir)) {
  console.log(`${name}: ${Math.round((await stat(join(mediaDir, name))).size / 1024)} kB`);
}

function nova() {
  return { voice: "nova", format: "wav", speed: 1 } as const;
}

async function keep(name: string, video: Buffer): Promise<string> {
  const path = join(workDir, `${name}.mp4`);
  await writeFile(path, video);
  return path;
}

async function writeImage(name: string, image: Buffer): Promise<void> {
  await sharp(image)
    .resize({ width: imageWidth })
    .webp({ quality: imageQuality })
    .toFile(join(mediaDir, `${name}.webp`));
}

type Cut = { from: number; seconds: number; posterAt: number };

/** A video for progressive playback, and its poster. */
async function writeVideo(name: string, path: string, { from, seconds, posterAt }: Cut): Promise<void> {
  const input = (second: number) => ["-ss", String(second), "-f", "mov", "-i", `file:${path}`];
  const scale = `scale=-2:${videoHeight}`;
  await runFfmpeg([
    ...[...input(from), "-t", String(seconds), "-vf", scale],
    ...["-c:v", "libx264", "-preset", "slow", "-crf", "28", "-pix_fmt", "yuv420p", "-r", "24"],
    ...["-c:a", "aac", "-b:a", "48k", "-ac", "1", "-movflags", "+faststart"],
    ...["-f", "mp4", `file:${join(mediaDir, `${name}.mp4`)}`],
  ]);
  const frame = ["-frames:v", "1", "-vf", scale, "-f", "image2pipe", "-c:v", "png", "pipe:1"];
  await writeImage(`${name}-poster`, await runFfmpeg([...input(from + posterAt), ...frame]));
}
