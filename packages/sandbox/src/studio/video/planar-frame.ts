/**
 * An image in the encoder's format (YUV 4:2:0): the brightness of each pixel, then two colours per four pixels, in one
 * buffer. Half the bytes of RGBA, so half the work per frame. Both sides are even.
 */
export type PlanarFrame = { width: number; height: number; bytes: Uint8Array; planes: readonly Plane[] };

/** `scale` is how many pixels one value of the plane covers, in each direction. */
export type Plane = { width: number; height: number; scale: 1 | 2; values: Uint8Array };

export function createPlanarFrame(width: number, height: number): PlanarFrame {
  const bytes = new Uint8Array((width * height * 3) / 2);
  const [halfWidth, halfHeight] = [width / 2, height / 2];
  const first = width * height;
  const second = first + halfWidth * halfHeight;
  const half = { width: halfWidth, height: halfHeight, scale: 2 } as const;
  return {
    width,
    height,
    bytes,
    planes: [
      { width, height, scale: 1, values: bytes.subarray(0, first) },
      { ...half, values: bytes.subarray(first, second) },
      { ...half, values: bytes.subarray(second) },
    ],
  };
}

/** Converts from RGBA. */
export function toPlanar(pixels: Uint8Array, width: number, height: number): PlanarFrame {
  const frame = createPlanarFrame(width, height);
  for (const [index, plane] of frame.planes.entries()) {
    const { values, scale } = plane;
    for (let y = 0, into = 0; y < plane.height; y += 1) {
      const row = y * scale * width * 4;
      for (let x = 0; x < plane.width; x += 1, into += 1) {
        values[into] = weigh(pixels, row + x * scale * 4, index);
      }
    }
  }
  return frame;
}

/** A colour as values of the three planes. */
export function toPlanes(colour: readonly [red: number, green: number, blue: number]): [number, number, number] {
  const pixel = Uint8Array.from(colour);
  return [weigh(pixel, 0, 0), weigh(pixel, 0, 1), weigh(pixel, 0, 2)];
}

/** The BT.601 weights, in 65,536ths, as players expect for this size. */
function weigh(pixels: Uint8Array, at: number, plane: number): number {
  // No index can be out of range.
  const red = pixels[at] as number;
  const green = pixels[at + 1] as number;
  const blue = pixels[at + 2] as number;
  if (plane === 0) return (16_829 * red + 33_039 * green + 6416 * blue + 1_081_344) >> 16;
  if (plane === 1) return (-9714 * red - 19_070 * green + 28_784 * blue + 8_421_376) >> 16;
  return (28_784 * red - 24_103 * green - 4681 * blue + 8_421_376) >> 16;
}

/** Overlays RGBA pixels, as wide as the frame, from row `top` on. */
export function layOverPlanes(frame: PlanarFrame, pixels: Uint8Array, top: number, opacity: number): void {
  const rows = Math.min(frame.height - top, pixels.length / 4 / frame.width);
  const factor = Math.round(opacity * 257);
  for (const [index, { width, scale, values }] of frame.planes.entries()) {
    for (let y = 0; y * scale < rows; y += 1) {
      const row = y * scale * frame.width * 4;
      for (let x = 0, into = (top / scale + y) * width; x < width; x += 1, into += 1) {
        const at = row + x * scale * 4;
        const share = (pixels[at + 3] as number) * factor;
        if (share === 0) continue;
        const here = values[into] as number;
        values[into] = here + (((weigh(pixels, at, index) - here) * share + 32_768) >> 16);
      }
    }
  }
}
