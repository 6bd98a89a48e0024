/** Draws the frame at `seconds`, `share` of the whole video, into its own buffer. */
export type FrameDrawer = {
  pixelFormat: "rgba" | "yuv420p";
  drawFrame(seconds: number, share: number): Uint8Array;
};

const captionSeconds = 3.4;
const captionFadeSeconds = 0.6;

/** The opacity of a caption, with fades. */
export function fadeCaption(now: number): number {
  return Math.min(1, Math.max(0, Math.min(now / captionFadeSeconds, (captionSeconds - now) / captionFadeSeconds)));
}

/** From −1 to 1, slow at both ends but never still. */
export function easePan(share: number): number {
  const smooth = share * share * (3 - 2 * share);
  return 2 * (0.5 * smooth + 0.5 * share) - 1;
}
