/** Codecs pad to whole frames, and decoders differ in counting the padding, so it is not billed. */
const paddingMsMax = 100;

/** Started seconds of a recording, without padding. */
export function countStartedSeconds(durationMs: number): number {
  if (durationMs <= 0) return 0;
  return Math.max(1, Math.ceil((durationMs - paddingMsMax) / 1000));
}
