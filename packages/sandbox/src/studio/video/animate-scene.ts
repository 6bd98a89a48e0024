import type { SeededRandom } from "../../seeded-random.ts";
import { isCornerLight } from "../image/caption.ts";
import { composeLayer, poseLayer } from "../image/compose-frame.ts";
import { createParticlePainter } from "../image/draw-particles.ts";
import { rasterizeCaption } from "../image/draw-still.ts";
import { createFrameFinisher } from "../image/finish-frame.ts";
import { type LayerRaster, rasterizeLayer } from "../image/layer-raster.ts";
import type { Canvas, Scene } from "../scenes/scene.ts";
import { easePan, type FrameDrawer, fadeCaption } from "./frame-drawer.ts";

type SceneAnimation = { canvas: Canvas; caption: string | null; random: SeededRandom };

/** Pans the camera over the layers of a scene with parallax. */
export async function animateScene(scene: Scene, { canvas, caption, random }: SceneAnimation): Promise<FrameDrawer> {
  const layers: LayerRaster[] = [];
  for (const layer of scene.layers) layers.push(await rasterizeLayer(layer, { canvas, isMoving: true }));
  const particles =
    scene.particles === null ? null : createParticlePainter(scene.particles, canvas, random.fork("air"));
  const direction = random.pick([-1, 1]);
  const paint = (seconds: number, share: number): Uint8Array => {
    const frame = new Uint8Array(canvas.width * canvas.height * 4);
    const camera = direction * easePan(share);
    for (const layer of layers) composeLayer(frame, canvas, layer, poseLayer(layer, canvas, camera, seconds));
    particles?.(frame, seconds);
    return frame;
  };
  const title = caption === null ? null : await rasterizeCaption(caption, canvas, isCornerLight(paint(0, 0), canvas));
  const finish = createFrameFinisher(canvas, { grain: 2.5, vignette: 0.3, random: random.fork("finish") });
  return {
    pixelFormat: "rgba",
    drawFrame(seconds, share) {
      const frame = paint(seconds, share);
      finish(frame);
      const opacity = fadeCaption(seconds);
      if (title !== null && opacity > 0)
        composeLayer(frame, canvas, title, { offsetX: 0, offsetY: 0, ripple: null, opacity });
      return frame;
    },
  };
}
