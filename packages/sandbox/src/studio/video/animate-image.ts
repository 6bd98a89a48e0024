import { loadFontMetrics } from "../../../../../src/providers/adapter-tools.ts";
import type { SeededRandom } from "../../seeded-random.ts";
import { drawCaption, isCornerLight } from "../image/caption.ts";
import { createPlanarParticles } from "../image/draw-particles.ts";
import { readPhoto } from "../image/grade-photos.ts";
import { rasterizeSvg } from "../image/layer-raster.ts";
import { type CameraView, samplePhoto } from "../image/sample-photo.ts";
import type { CameraMove, ShotPrompt } from "../image/shot-prompt.ts";
import { type Canvas, createCanvas, type Particles } from "../scenes/scene.ts";
import { OrderRefusal } from "../studio-order.ts";
import { easePan, type FrameDrawer, fadeCaption } from "./frame-drawer.ts";
import { createPlanarFrame, layOverPlanes, toPlanar } from "./planar-frame.ts";

type ImageAnimation = {
  canvas: Canvas;
  shot: ShotPrompt;
  /** The caption at the start; `null` for none. */
  caption: string | null;
  particles: Particles | null;
  random: SeededRandom;
};

/** The camera's position: `near` from 0 (the whole image) to 1, and its aim from −1 to 1 on both axes. */
type CameraPlace = { near: number; aimX: number; aimY: number };

/** `room` is how much larger the image is than the nearest view. */
type CameraWay = { room: number; at(share: number): CameraPlace };

/** Moves the camera over an image, as the prompt says, with the scene's particles in front. */
export async function animateImage(path: string, video: ImageAnimation): Promise<FrameDrawer> {
  const { canvas, shot, random } = video;
  const way = chooseWay(shot, random);
  const [width, height] = [makeEven(canvas.width * way.room), makeEven(canvas.height * way.room)];
  const pixels = await readPhoto(path, width, height).catch((error: unknown) => {
    throw new OrderRefusal(`The input image cannot be read: ${String(error)}`);
  });
  const photo = toPlanar(pixels, width, height);
  const isOnLight = isCornerLight(pixels, createCanvas(width, height));
  const title = video.caption === null ? null : await drawTitle(video.caption, canvas, isOnLight);
  const particles =
    video.particles === null ? null : createPlanarParticles(video.particles, canvas, random.fork("air"));
  return {
    pixelFormat: "yuv420p",
    drawFrame(seconds, share) {
      const frame = createPlanarFrame(canvas.width, canvas.height);
      samplePhoto(frame, photo, findView(way.at(share), { canvas, width, height, room: way.room }));
      particles?.(frame, seconds);
      const opacity = fadeCaption(seconds);
      if (title !== null && opacity > 0) layOverPlanes(frame, title.pixels, title.top, opacity);
      return frame.bytes;
    },
  };
}

function makeEven(side: number): number {
  return 2 * Math.round(side / 2);
}

function chooseWay({ isShot, move }: ShotPrompt, random: SeededRandom): CameraWay {
  if (isShot || move !== null) return ways[move ?? random.pick(["in", "in", "out"])];
  const isInward = random.chance(0.6);
  const [aimX, aimY] = [random.between(-0.5, 0.5), random.between(-0.35, 0.35)];
  return { room: 1.35, at: (share) => ({ near: isInward ? half(share) : 1 - half(share), aimX, aimY }) };
}

/** From 0 to 1, with easing at both ends. */
function half(share: number): number {
  return 0.5 + easePan(share) / 2;
}

/** People are in the middle of a shot, with their eyes above it. */
const eyes = { aimX: 0, aimY: -0.4 };

const ways: Record<CameraMove, CameraWay> = {
  in: { room: 1.17, at: (share) => ({ near: half(share), ...eyes }) },
  out: { room: 1.17, at: (share) => ({ near: 1 - half(share), ...eyes }) },
  left: { room: 1.2, at: (share) => ({ near: 0.85, aimX: -easePan(share), aimY: 0 }) },
  right: { room: 1.2, at: (share) => ({ near: 0.85, aimX: easePan(share), aimY: 0 }) },
  // A tripod camera with a slight movement.
  still: {
    room: 1.04,
    at: (share) => ({ near: 0.5, aimX: 0.3 * Math.sin(share * 5), aimY: 0.2 * Math.sin(share * 3) }),
  },
};

type Frames = { canvas: Canvas; width: number; height: number; room: number };

function findView({ near, aimX, aimY }: CameraPlace, { canvas, width, height, room }: Frames): CameraView {
  const step = room - (room - 1) * near;
  const [spareX, spareY] = [(width - canvas.width * step) / 2, (height - canvas.height * step) / 2];
  return { x: width / 2 + aimX * spareX, y: height / 2 + aimY * spareY, step };
}

/** The caption as pixels, without the empty rows above it. */
async function drawTitle(
  caption: string,
  canvas: Canvas,
  isOnLight: boolean,
): Promise<{ pixels: Uint8Array; top: number }> {
  const { width, height } = canvas;
  const svg = drawCaption(caption, { canvas, metrics: loadFontMetrics(), isOnLight });
  const pixels = await rasterizeSvg(svg, { left: 0, top: 0, width, height });
  const first = pixels.findIndex((value, index) => index % 4 === 3 && value > 0);
  // Colour planes have half the rows, so the start must be even.
  const top = first < 0 ? height : 2 * Math.floor(first / 4 / width / 2);
  return { pixels: pixels.subarray(top * width * 4), top };
}
