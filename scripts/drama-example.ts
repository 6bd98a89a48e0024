// Creates a drama from a page of script in the sandbox and writes it with its storyboard to docs/media.
// Run it after a visual change of dramas: node scripts/drama-example.ts
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { systemClock } from "../src/lib/clock.ts";
import { runMediaTool } from "../src/platform/media/run-media-tool.ts";
import { drawPortrait } from "../test/harness/media/portrait.ts";
import { startOwnGateway } from "./start-own-gateway.ts";
import { writePicture } from "./write-picture.ts";

type Output = { type: string; url: string; content_type: string; duration?: number };
type Drama = { id: string; status: string; output: Output[]; usage: { charge: string }; error?: { message: string } };

const mediaDir = join(import.meta.dirname, "../docs/media");
const title = "The Keeper's Light";
const script = await readFile(join(mediaDir, "drama-script.txt"), "utf8");
const tileWidth = 420;
const gap = 8;

const dataDir = await mkdtemp(join(tmpdir(), "drama-example-"));
const gateway = await startOwnGateway({ data_dir: dataDir, port: 0, host: "127.0.0.1" });
const siteUrl = `http://127.0.0.1:${gateway.port}`;
const headers = { authorization: `Bearer ${gateway.firstRun?.keyText}` };

try {
  const drama = await makeDrama();
  const [video] = drama.output.filter(({ type }) => type === "video");
  console.log(`The video takes ${video?.duration} s and cost ${drama.usage.charge}.`);
  await keep(drama, "video", "drama.mp4");
  await keep(drama, "subtitles", "drama.vtt");
  await keep(drama, "storyboard", "drama-storyboard.json");
  await writeSheet("drama-storyboard.jpg", await fetchPictures(drama));
  await writeSheet("drama-video.jpg", await takeFrames(join(mediaDir, "drama.mp4"), video?.duration ?? 0));
} finally {
  await gateway.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function makeDrama(): Promise<Drama> {
  const body = {
    model: "sandbox-drama",
    title,
    script,
    characters: [{ name: "Mara", reference_file_id: await upload() }],
  };
  const startedMs = systemClock.monotonicMs();
  const sent = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  let drama = (await (await fetch(`${siteUrl}/v1/dramas/generations`, sent)).json()) as Drama;
  while (["queued", "processing"].includes(drama.status)) {
    const asked = { headers: { ...headers, prefer: "wait=60" } };
    drama = (await (await fetch(`${siteUrl}/v1/tasks/${drama.id}`, asked)).json()) as Drama;
  }
  if (drama.status !== "succeeded") throw new Error(`The drama is ${drama.status}: ${drama.error?.message}`);
  console.log(`Created in ${Math.round((systemClock.monotonicMs() - startedMs) / 1000)} s.`);
  return drama;
}

async function upload(): Promise<string> {
  const form = new FormData();
  form.set("purpose", "generation");
  form.set("file", new Blob([new Uint8Array(await drawPortrait(768, 768))]), "mara.png");
  const answer = await fetch(`${siteUrl}/v1/files`, { method: "POST", headers, body: form });
  return ((await answer.json()) as { file_id: string }).file_id;
}

/** Links point to the configured site_url, not to this gateway's port. */
async function fetchBytes({ url }: Output): Promise<Buffer> {
  const { pathname, search } = new URL(url);
  return Buffer.from(await (await fetch(`${siteUrl}${pathname}${search}`)).arrayBuffer());
}

async function keep(drama: Drama, type: string, name: string): Promise<void> {
  const output = drama.output.find((each) => each.type === type);
  if (output === undefined) throw new Error(`There is no ${type}.`);
  await writeFile(join(mediaDir, name), await fetchBytes(output));
}

/** The poster, then the storyboard's images. */
async function fetchPictures(drama: Drama): Promise<Buffer[]> {
  const images = drama.output.filter(({ type }) => type === "image");
  return await Promise.all(images.map(fetchBytes));
}

async function takeFrames(path: string, seconds: number): Promise<Buffer[]> {
  const count = 12;
  const signal = new AbortController().signal;
  const frames: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = ((index + 0.5) * seconds) / count;
    const args = [
      "-ss",
      at.toFixed(2),
      "-f",
      "mov",
      "-i",
      `file:${path}`,
      "-frames:v",
      "1",
      "-c:v",
      "png",
      "-f",
      "image2pipe",
      "pipe:1",
    ];
    const limits = { source: "ours", signal, timeoutMs: 60_000, stdoutBytesMax: 20_000_000 } as const;
    frames.push((await runMediaTool({ ...limits, tool: "ffmpeg", args })).stdout);
  }
  return frames;
}

async function writeSheet(name: string, images: readonly Buffer[]): Promise<void> {
  const columns = 4;
  const tileHeight = Math.round((tileWidth * 9) / 16);
  const tiles = await Promise.all(images.map((image) => sharp(image).resize(tileWidth, tileHeight).png().toBuffer()));
  const rows = Math.ceil(tiles.length / columns);
  const size = { width: columns * (tileWidth + gap) + gap, height: rows * (tileHeight + gap) + gap };
  const placed = tiles.map((input, index) => ({
    input,
    left: gap + (index % columns) * (tileWidth + gap),
    top: gap + Math.floor(index / columns) * (tileHeight + gap),
  }));
  const sheet = sharp({ create: { ...size, channels: 3, background: "#17181c" } }).composite(placed);
  await writePicture(sheet, join(mediaDir, name));
  console.log(`wrote docs/media/${name}`);
}
