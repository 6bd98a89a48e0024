import type { Canvas, LayerMotion, SceneLayer } from "../scenes/scene.ts";

/** Subpixel positions that a layer is rendered at, so that slow movements do not jump. */
export const phaseCount = 4;

/** A layer as pixels, RGBA with premultiplied alpha. */
export type LayerRaster = {
  width: number;
  height: number;
  depth: number;
  motion: LayerMotion | null;
  /** The same image, shifted left by quarters of a pixel; one if nothing moves. */
  phases: readonly Uint8Array[];
  /** For each row: the start and end of its visible part, and the longest opaque run. */
  spans: Int32Array;
};

type RasterOptions = { canvas: Canvas; isMoving: boolean };

/** Renders a layer over the whole scene, including its bleed. */
export async function rasterizeLayer(layer: SceneLayer, { canvas, isMoving }: RasterOptions): Promise<LayerRaster> {
  const width = canvas.width + 2 * canvas.bleed;
  const { height } = canvas;
  const pixels = await rasterizeSvg(layer.svg, { left: -canvas.bleed, top: 0, width, height });
  multiplyByOpacity(pixels);
  const moves = isMoving && (layer.depth > 0 || layer.motion !== undefined);
  const phases = [pixels, ...(moves ? listShifted(pixels, width, height) : [])];
  return {
    width,
    height,
    depth: layer.depth,
    motion: layer.motion ?? null,
    phases,
    spans: findSpans(phases, width, height),
  };
}

/** Renders SVG elements to RGBA pixels. */
export async function rasterizeSvg(
  elements: string,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const document = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}">${elements}</svg>`;
  return sharp(Buffer.from(document), { limitInputPixels: 64_000_000, unlimited: true }).ensureAlpha().raw().toBuffer();
}

function multiplyByOpacity(pixels: Uint8Array): void {
  for (let at = 0; at < pixels.length; at += 4) {
    const opacity = pixels[at + 3] as number;
    if (opacity === 255) continue;
    for (let channel = at; channel < at + 3; channel += 1) {
      pixels[channel] = ((pixels[channel] as number) * opacity * 257 + 32_768) >> 16;
    }
  }
}

function listShifted(pixels: Uint8Array, width: number, height: number): Uint8Array[] {
  return Array.from({ length: phaseCount - 1 }, (_, index) => {
    const share = (index + 1) / phaseCount;
    const shifted = new Uint8Array(pixels.length);
    for (let y = 0; y < height; y += 1) {
      const start = y * width * 4;
      const end = start + (width - 1) * 4;
      for (let at = start; at < end; at += 1) {
        const here = pixels[at] ?? 0;
        shifted[at] = here + ((pixels[at + 4] ?? 0) - here) * share + 0.5;
      }
      shifted.set(pixels.subarray(end, end + 4), end);
    }
    return shifted;
  });
}

/** Four numbers per row, valid for every phase. */
function findSpans(phases: readonly Uint8Array[], width: number, height: number): Int32Array {
  const spans = new Int32Array(height * 4);
  const [pixels = new Uint8Array()] = phases;
  for (let y = 0; y < height; y += 1) {
    let [first, last, runStart, bestStart, bestEnd] = [width, 0, -1, 0, 0];
    for (let x = 0; x <= width; x += 1) {
      const opacity = x === width ? 0 : (pixels[(y * width + x) * 4 + 3] as number);
      if (opacity > 0) {
        first = Math.min(first, x);
        last = x + 1;
      }
      if (opacity === 255 && runStart < 0) runStart = x;
      if (opacity !== 255 && runStart >= 0) {
        if (x - runStart > bestEnd - bestStart) [bestStart, bestEnd] = [runStart, x];
        runStart = -1;
      }
    }
    // A shifted copy mixes each pixel with its right neighbour.
    spans.set([Math.max(0, first - 1), last, bestStart, Math.max(bestStart, bestEnd - 1)], y * 4);
  }
  return spans;
}
