import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { invariant } from "../../../lib/invariant.ts";
import type { VideoRequest } from "../../generation.ts";
import { isCornerLight } from "./caption.ts";
import { composeLayer, poseLayer } from "./compose-frame.ts";
import { createParticlePainter } from "./draw-particles.ts";
import { rasterizeCaption } from "./draw-still.ts";
import { encodeFilm } from "./encode-film.ts";
import { findFilmSize, framesPerSecond } from "./film-format.ts";
import { createFrameFinisher } from "./finish-frame.ts";
import { readPhoto } from "./grade-photos.ts";
import { type LayerRaster, rasterizeLayer } from "./layer-raster.ts";
import { hashPhotos } from "./make-pictures.ts";
import { type PlannedPicture, planPicture } from "./plan-picture.ts";
import { samplePhoto } from "./sample-photo.ts";
import { type Canvas, createCanvas } from "./scene.ts";
import { createSeededRandom, type SeededRandom } from "./seeded-random.ts";
import { composeSoundtrack, soundRate } from "./soundtrack.ts";
import { OrderRefusal, type ReportStudio, type StudioOrder } from "./studio-order.ts";

/** Draws the moment of a film that lies `seconds` after its beginning, `share` of the whole. */
type Painter = (frame: Uint8Array, seconds: number, share: number) => void;

type FilmPlan = { canvas: Canvas; seconds: number; paint: Painter; caption: LayerRaster };

const captionSeconds = 3.4;
const captionFadeSeconds = 0.6;
/** A slow core draws and encodes two frames a second at worst. */
const encodeMsPerSecond = 12_000;
const encodeMsMin = 60_000;
const photoScale = 1.35;

/** A film of a prompt, or of the given picture, with motion and sound. */
export async function makeFilm(order: StudioOrder & { request: VideoRequest }, report: ReportStudio): Promise<void> {
  const { prompt, durationSeconds: seconds, aspectRatio } = order.request;
  const size = findFilmSize(aspectRatio);
  invariant(size !== null, "the aspect ratio was checked before");
  const canvas = createCanvas(size.width, size.height);
  const photos = order.inputs.filter(({ role }) => role === "image").map(({ path }) => path);
  const seed = `${prompt}\n${await hashPhotos(photos)}\nfilm`;
  const random = createSeededRandom(`${seed}/film`);
  const picture = planPicture(prompt, seed, canvas);
  const [photo] = photos;
  const paint =
    photo === undefined ? await prepareScene(picture, canvas, random) : await preparePhoto(photo, canvas, random);
  const first = new Uint8Array(canvas.width * canvas.height * 4);
  paint(first, 0, 0);
  const caption = await rasterizeCaption(prompt, canvas, isCornerLight(first, canvas));

  const soundPath = join(order.folder, "sound.s16");
  await writeFile(soundPath, composeSoundtrack(seconds, picture.scene.sound, random.fork("sound")));
  const partPath = join(order.folder, "film.part");
  await encodeFilm({
    ...size,
    path: partPath,
    seconds,
    frames: drawFrames({ canvas, seconds, paint, caption }, random.fork("finish"), report),
    soundInput: ["-f", "s16le", "-ar", String(soundRate), "-ac", "2", "-i", soundPath],
    timeoutMs: encodeMsMin + seconds * encodeMsPerSecond,
  });
  await rename(partPath, join(order.folder, "film.mp4"));
  report({ kind: "output", type: "video", name: "film.mp4" });
}

function* drawFrames(plan: FilmPlan, random: SeededRandom, report: ReportStudio): Generator<Uint8Array> {
  const { canvas, seconds, paint, caption } = plan;
  const finish = createFrameFinisher(canvas, { grain: 2.5, vignette: 0.3, random });
  const count = Math.round(seconds * framesPerSecond);
  for (let index = 0; index < count; index += 1) {
    const frame = new Uint8Array(canvas.width * canvas.height * 4);
    const now = index / framesPerSecond;
    paint(frame, now, count === 1 ? 0 : index / (count - 1));
    finish(frame);
    const opacity = fadeCaption(now);
    if (opacity > 0) composeLayer(frame, canvas, caption, { offsetX: 0, offsetY: 0, ripple: null, opacity });
    report({ kind: "progress", percent: Math.floor((99 * (index + 1)) / count) });
    yield frame;
  }
}

function fadeCaption(now: number): number {
  return Math.min(1, Math.max(0, Math.min(now / captionFadeSeconds, (captionSeconds - now) / captionFadeSeconds)));
}

/** The camera pans over the layers of a scene: what is near moves more than what is far. */
async function prepareScene({ scene }: PlannedPicture, canvas: Canvas, random: SeededRandom): Promise<Painter> {
  const layers: LayerRaster[] = [];
  for (const layer of scene.layers) layers.push(await rasterizeLayer(layer, { canvas, isMoving: true }));
  const particles =
    scene.particles === null ? null : createParticlePainter(scene.particles, canvas, random.fork("air"));
  const direction = random.pick([-1, 1]);
  return (frame, seconds, share) => {
    const camera = direction * easePan(share);
    for (const layer of layers) composeLayer(frame, canvas, layer, poseLayer(layer, canvas, camera, seconds));
    particles?.(frame, seconds);
  };
}

/** From −1 to 1, slow at both ends but never still. */
function easePan(share: number): number {
  const smooth = share * share * (3 - 2 * share);
  return 2 * (0.5 * smooth + 0.5 * share) - 1;
}

/** The camera moves towards a place in the picture, or away from it. */
async function preparePhoto(path: string, canvas: Canvas, random: SeededRandom): Promise<Painter> {
  const [width, height] = [Math.round(canvas.width * photoScale), Math.round(canvas.height * photoScale)];
  const pixels = await readPhoto(path, width, height).catch((error: unknown) => {
    throw new OrderRefusal(`The input image cannot be read: ${String(error)}`);
  });
  const isInward = random.chance(0.6);
  const [aimX, aimY] = [random.between(-0.5, 0.5), random.between(-0.35, 0.35)];
  return (frame, _seconds, share) => {
    const near = isInward ? 0.5 + easePan(share) / 2 : 0.5 - easePan(share) / 2;
    const step = photoScale - (photoScale - 1) * near;
    const [roomX, roomY] = [(width - canvas.width * step) / 2, (height - canvas.height * step) / 2];
    samplePhoto(
      frame,
      canvas,
      { pixels, width, height },
      { x: width / 2 + aimX * roomX, y: height / 2 + aimY * roomY, step },
    );
  };
}
