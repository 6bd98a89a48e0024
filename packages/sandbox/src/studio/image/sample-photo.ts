import type { PlanarFrame, Plane } from "../video/planar-frame.ts";

/** The camera's view: its centre in the photo's pixels, and how many of these one pixel of the frame covers. */
export type CameraView = { x: number; y: number; step: number };

/**
 * Shifts the sampling of each pixel up, in the photo's pixels: `drop` times its column's and row's factors. `null` for
 * no distortion.
 */
export type PhotoWarp = { drop: number; columns: Float32Array; rows: Float32Array } | null;

/** Draws the view into a frame with bilinear interpolation. */
export function samplePhoto(frame: PlanarFrame, photo: PlanarFrame, view: CameraView, warp: PhotoWarp = null): void {
  for (const [index, plane] of frame.planes.entries()) {
    const source = photo.planes[index];
    if (source !== undefined) samplePlane(plane, source, view, warp);
  }
}

function samplePlane(plane: Plane, source: Plane, view: CameraView, warp: PhotoWarp): void {
  const { width, height, values, scale } = plane;
  const startX = view.x / scale - (width / 2) * view.step;
  const startY = view.y / scale - (height / 2) * view.step;
  const lastY = source.height - 2;
  // In 256ths, so that the inner loop uses integers only.
  const places = Int32Array.from({ length: width }, (_, x) =>
    Math.floor(256 * Math.min(source.width - 2, Math.max(0, startX + x * view.step))),
  );
  for (let y = 0; y < height; y += 1) {
    const bend = warp === null ? 0 : (warp.drop / scale) * (warp.rows[y * scale] ?? 0);
    const rowY = startY + y * view.step;
    const row = { values, into: y * width, places };
    if (warp === null || Math.abs(bend) < 0.01) mixRow(row, source, Math.min(lastY, Math.max(0, rowY)));
    else mixBentRow(row, source, { rowY, lastY, bend, columns: warp.columns, scale });
  }
}

type RowTarget = { values: Uint8Array; into: number; places: Int32Array };

function mixRow({ values, into, places }: RowTarget, { values: pixels, width }: Plane, placeY: number): void {
  const upper = placeY | 0;
  const shareY = ((placeY - upper) * 256) | 0;
  const base = upper * width;
  // No index can be out of range, and checking each would be half of the work of a video.
  for (let x = 0; x < places.length; x += 1) {
    const place = places[x] as number;
    const shareX = place & 255;
    const at = base + (place >> 8);
    const left = pixels[at] as number;
    const lowLeft = pixels[at + width] as number;
    const top = (left << 8) + ((pixels[at + 1] as number) - left) * shareX;
    const low = (lowLeft << 8) + ((pixels[at + width + 1] as number) - lowLeft) * shareX;
    values[into + x] = ((top << 8) + (low - top) * shareY) >> 16;
  }
}

type Bend = { rowY: number; lastY: number; bend: number; columns: Float32Array; scale: number };

function mixBentRow({ values, into, places }: RowTarget, { values: pixels, width }: Plane, row: Bend): void {
  const { rowY, lastY, bend, columns, scale } = row;
  for (let x = 0; x < places.length; x += 1) {
    const place = places[x] as number;
    const shareX = place & 255;
    const placeY = Math.min(lastY, Math.max(0, rowY - bend * (columns[x * scale] as number)));
    const upper = placeY | 0;
    const shareY = ((placeY - upper) * 256) | 0;
    const at = upper * width + (place >> 8);
    const left = pixels[at] as number;
    const lowLeft = pixels[at + width] as number;
    const top = (left << 8) + ((pixels[at + 1] as number) - left) * shareX;
    const low = (lowLeft << 8) + ((pixels[at + width + 1] as number) - lowLeft) * shareX;
    values[into + x] = ((top << 8) + (low - top) * shareY) >> 16;
  }
}
