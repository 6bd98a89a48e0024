import { drawCaption, isCornerLight } from "./caption.ts";
import { composeLayer, poseLayer } from "./compose-frame.ts";
import { createParticlePainter } from "./draw-particles.ts";
import { createFrameFinisher } from "./finish-frame.ts";
import { loadFontMetrics } from "./font-metrics.ts";
import { gradePhotos, type PhotoPath } from "./grade-photos.ts";
import { type LayerRaster, rasterizeLayer } from "./layer-raster.ts";
import { planPicture } from "./plan-picture.ts";
import { type Canvas, createCanvas } from "./scene.ts";
import { createSeededRandom } from "./seeded-random.ts";

export type StillOrder = {
  prompt: string;
  /** Which of all the pictures of the prompt. */
  seed: string;
  width: number;
  height: number;
  photos: readonly PhotoPath[];
};

/** The moment at which a scene is shown that could also be a film. */
const stillSeconds = 2;

/** A picture of a prompt, as a PNG of exactly the asked size. */
export async function drawStill({ prompt, seed, width, height, photos }: StillOrder): Promise<Buffer> {
  const canvas = createCanvas(width, height);
  const { scene, palette } = planPicture(prompt, seed, canvas);
  const random = createSeededRandom(`${seed}/finish`);
  const frame =
    photos.length === 0
      ? new Uint8Array(width * height * 4).fill(255)
      : await gradePhotos(photos, { canvas, palette, random });
  if (photos.length === 0) {
    for (const layer of scene.layers) {
      const raster = await rasterizeLayer(layer, { canvas, isMoving: false });
      composeLayer(frame, canvas, raster, poseLayer(raster, canvas, 0, 0));
    }
    if (scene.particles !== null)
      createParticlePainter(scene.particles, canvas, random.fork("air"))(frame, stillSeconds);
  }
  createFrameFinisher(canvas, { grain: 7, vignette: 0.34, random })(frame);
  const caption = await rasterizeCaption(prompt, canvas, isCornerLight(frame, canvas));
  composeLayer(frame, canvas, caption, poseLayer(caption, canvas, 0, 0));
  return encodePng(frame, width, height);
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
