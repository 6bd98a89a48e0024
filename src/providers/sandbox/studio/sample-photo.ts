/** A picture that is larger than the frame, so that a camera can move over it; 4 bytes a pixel. */
export type WidePhoto = { pixels: Uint8Array; width: number; height: number };

/** What the camera sees: the middle of the view in the photo's pixels, and how many of them one pixel of the frame is. */
export type CameraView = { x: number; y: number; step: number };

/** Where each pixel of the frame looks instead, in the photo's pixels; `null` for a picture that keeps its shape. */
export type PhotoWarp = { top: number; bottom: number; shiftY(x: number, y: number): number } | null;

/** Draws the view into a frame; what lies between pixels is mixed of its four neighbours. */
export function samplePhoto(
  frame: Uint8Array,
  size: { width: number; height: number },
  photo: WidePhoto,
  view: CameraView,
  warp: PhotoWarp = null,
): void {
  const { pixels, width: photoWidth } = photo;
  const lastX = photo.width - 2;
  const lastY = photo.height - 2;
  const startX = view.x - (size.width / 2) * view.step;
  const startY = view.y - (size.height / 2) * view.step;
  for (let y = 0, into = 0; y < size.height; y += 1) {
    const isWarped = warp !== null && y >= warp.top && y < warp.bottom;
    const rowY = startY + y * view.step;
    for (let x = 0; x < size.width; x += 1, into += 4) {
      const placeX = Math.min(lastX, Math.max(0, startX + x * view.step));
      const placeY = Math.min(lastY, Math.max(0, isWarped ? rowY + warp.shiftY(x, y) : rowY));
      const left = placeX | 0;
      const upper = placeY | 0;
      // In 256ths, so that the loop is whole numbers only.
      const shareX = ((placeX - left) * 256) | 0;
      const shareY = ((placeY - upper) * 256) | 0;
      const at = (upper * photoWidth + left) * 4;
      const below = at + photoWidth * 4;
      for (let channel = 0; channel < 3; channel += 1) {
        // No index here can lie outside, and a check of each would be half of the work of a film.
        const top = (pixels[at + channel] as number) * (256 - shareX) + (pixels[at + channel + 4] as number) * shareX;
        const low =
          (pixels[below + channel] as number) * (256 - shareX) + (pixels[below + channel + 4] as number) * shareX;
        frame[into + channel] = (top * (256 - shareY) + low * shareY) >> 16;
      }
      frame[into + 3] = 255;
    }
  }
}
