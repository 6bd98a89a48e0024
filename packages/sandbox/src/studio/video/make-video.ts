import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { VideoRequest } from "../../../../../src/providers/generation.ts";
import { createSeededRandom } from "../../seeded-random.ts";
import { hashPhotos } from "../image/make-images.ts";
import { planImage } from "../image/plan-image.ts";
import { parseShotPrompt, type ShotPrompt } from "../image/shot-prompt.ts";
import { createCanvas, type Particles } from "../scenes/scene.ts";
import { OrderRefusal, type ReportStudio, type StudioOrder } from "../studio-order.ts";
import { animateImage } from "./animate-image.ts";
import { animateScene } from "./animate-scene.ts";
import { encodeVideo } from "./encode-video.ts";
import type { FrameDrawer } from "./frame-drawer.ts";
import { composeSoundtrack, soundRate } from "./soundtrack.ts";
import { findVideoSize, framesPerSecond } from "./video-sizes.ts";

/** A slow core draws and encodes at least two frames a second. */
const encodeMsPerSecond = 12_000;
const encodeMsMin = 60_000;

/** A video of a prompt or an image, with motion and sound. */
export async function makeVideo(order: StudioOrder & { request: VideoRequest }, report: ReportStudio): Promise<void> {
  const { prompt, durationSeconds: seconds, aspectRatio } = order.request;
  const size = findVideoSize(aspectRatio);
  if (size === null) throw new OrderRefusal(`There is no size for ${aspectRatio}.`);
  const canvas = createCanvas(size.width, size.height);
  const photos = order.inputs.filter(({ role }) => role === "image").map(({ path }) => path);
  const seed = `${prompt}\n${await hashPhotos(photos)}\nfilm`;
  const random = createSeededRandom(`${seed}/film`);
  const shot = parseShotPrompt(prompt, photos.length);
  const { scene } = planImage(shot, seed, canvas);
  const caption = shot.hasCaption ? prompt : null;
  const [photo] = photos;
  const drawer =
    photo === undefined
      ? await animateScene(scene, { canvas, caption, random })
      : await animateImage(photo, { canvas, shot, caption, particles: chooseAir(scene.particles, shot), random });

  const soundPath = join(order.folder, "sound.s16");
  const hasMusic = !shot.isShot;
  await writeFile(soundPath, composeSoundtrack({ seconds, sound: scene.sound, hasMusic }, random.fork("sound")));
  const partPath = join(order.folder, "video.part");
  await encodeVideo({
    ...size,
    path: partPath,
    seconds,
    pixelFormat: drawer.pixelFormat,
    frames: drawFrames(drawer, seconds, report),
    soundInput: ["-f", "s16le", "-ar", String(soundRate), "-ac", "2", "-i", `file:${soundPath}`],
    source: "ours",
    timeoutMs: encodeMsMin + seconds * encodeMsPerSecond,
  });
  await rename(partPath, join(order.folder, "video.mp4"));
  report({ kind: "output", type: "video", name: "video.mp4" });
}

/** A caller's image gets particles only if they belong to its scene or were requested. */
function chooseAir(particles: Particles | null, { isShot }: ShotPrompt): Particles | null {
  return isShot || particles?.kind === "rain" || particles?.kind === "snow" ? particles : null;
}

function* drawFrames({ drawFrame }: FrameDrawer, seconds: number, report: ReportStudio): Generator<Uint8Array> {
  const count = Math.round(seconds * framesPerSecond);
  for (let index = 0; index < count; index += 1) {
    const frame = drawFrame(index / framesPerSecond, count === 1 ? 0 : index / (count - 1));
    report({ kind: "progress", percent: Math.floor((99 * (index + 1)) / count) });
    yield frame;
  }
}
