import { loadFontMetrics } from "../../../../../src/providers/adapter-tools.ts";
import { createSeededRandom, type SeededRandom } from "../../seeded-random.ts";
import { layPeople } from "../people/stage-people.ts";
import { type Canvas, createCanvas } from "../scenes/scene.ts";
import { drawCaption, isCornerLight } from "./caption.ts";
import { composeLayer, poseLayer } from "./compose-frame.ts";
import { createParticlePainter } from "./draw-particles.ts";
import { createFrameFinisher } from "./finish-frame.ts";
import { gradePhotos, type PhotoPath } from "./grade-photos.ts";
import { joinLayers, joinStillLayers } from "./join-layers.ts";
import { type LayerRaster, rasterizeLayer, rasterizeSvg } from "./layer-raster.ts";
import { type PlannedImage, planImage } from "./plan-image.ts";
import { parseShotPrompt, type ShotPrompt } from "./shot-prompt.ts";

export type StillOrder = {
  prompt: string;
  /** Selects one of the possible images of the prompt. */
  seed: string;
  width: number;
  height: number;
  photos: readonly PhotoPath[];
};

/** The moment of an animated scene that a still shows. */
const stillSeconds = 2;

/** The camera's distance, and the blur behind people, in units. Without people, `view` is the distance. */
const lenses = {
  close: { zoom: 1.3, blur: 0.75, view: 1.7 },
  medium: { zoom: 1.1, blur: 0.32, view: 1.28 },
  wide: { zoom: 1, blur: 0, view: 1 },
} as const;

/** An image for a prompt, as a PNG of exactly the requested size. */
export async function drawStill(order: StillOrder): Promise<Buffer> {
  const { prompt, seed, width, height, photos } = order;
  const canvas = createCanvas(width, height);
  const shot = parseShotPrompt(prompt, photos.length);
  const image = planImage(shot, seed, canvas);
  const random = createSeededRandom(`${seed}/finish`);
  const frame =
    shot.people.length > 0 || (shot.isShot && photos.length === 0)
      ? await drawShot(shot, image, { canvas, photos, random })
      : photos.length > 0
        ? await gradePhotos(photos, { canvas, palette: image.palette, random })
        : await drawView(image, canvas, random);
  createFrameFinisher(canvas, { grain: shot.isShot ? 4 : 7, vignette: 0.34, random })(frame);
  if (shot.hasCaption) {
    const caption = await rasterizeCaption(prompt, canvas, isCornerLight(frame, canvas));
    composeLayer(frame, canvas, caption, poseLayer(caption, canvas, 0, 0));
  }
  return encodePng(frame, width, height);
}

async function drawView({ scene }: PlannedImage, canvas: Canvas, random: SeededRandom): Promise<Uint8Array> {
  const frame = new Uint8Array(canvas.width * canvas.height * 4).fill(255);
  for (const layer of joinStillLayers(scene.layers, canvas)) {
    const raster = await rasterizeLayer(layer, { canvas, isMoving: false });
    composeLayer(frame, canvas, raster, poseLayer(raster, canvas, 0, 0));
  }
  if (scene.particles !== null) createParticlePainter(scene.particles, canvas, random.fork("air"))(frame, stillSeconds);
  return frame;
}

type ShotParts = { canvas: Canvas; photos: readonly PhotoPath[]; random: SeededRandom };

/** The scene as the shot's camera sees it, with the people of the shot. */
async function drawShot(
  { people, distance }: ShotPrompt,
  { scene, palette }: PlannedImage,
  { canvas, photos, random }: ShotParts,
): Promise<Uint8Array> {
  const { width, height, unit } = canvas;
  const { zoom, blur, view } = lenses[distance];
  const isView = people.length === 0;
  const camera = random.fork("camera").between(-0.7, 0.7);
  const { svg } = joinLayers(scene.layers, canvas, camera);
  const [x, y] = isView ? [width * (0.5 + camera * 0.3), height * 0.62] : [width / 2, height * 0.42];
  const picture = `<rect x="0" y="0" width="${width}" height="${height}" fill="#ffffff"/><g transform="translate(${x} ${y}) scale(${isView ? view : zoom}) translate(${-x} ${-y})">${svg}</g>`;
  const sharpFrame = await rasterizeSvg(picture, { left: 0, top: 0, width, height });
  const frame = blur === 0 || isView ? sharpFrame : await blurFrame(sharpFrame, canvas, blur * unit);
  if (scene.particles !== null) createParticlePainter(scene.particles, canvas, random.fork("air"))(frame, stillSeconds);
  return layPeople(frame, people, { canvas, palette, distance, photos, random: random.fork("people") });
}

async function blurFrame(frame: Uint8Array, { width, height }: Canvas, deviation: number): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  return sharp(frame, { raw: { width, height, channels: 4 } })
    .blur(Math.max(0.3, deviation))
    .raw()
    .toBuffer();
}

export function rasterizeCaption(prompt: string, canvas: Canvas, isOnLight: boolean): Promise<LayerRaster> {
  const svg = drawCaption(prompt, { canvas, metrics: loadFontMetrics(), isOnLight });
  return rasterizeLayer({ svg, depth: 0 }, { canvas, isMoving: false });
}

async function encodePng(frame: Uint8Array, width: number, height: number): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  return sharp(frame, { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .png({ compressionLevel: 7 })
    .toBuffer();
}
