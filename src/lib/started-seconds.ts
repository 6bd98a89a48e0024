/** Codecs pad what they write to whole frames, and decoders differ in whether they count that. Nobody asked for it. */
const paddingMsMax = 100;

/** Begun seconds of a recording, without what is only padding. */
export function countStartedSeconds(durationMs: number): number {
  if (durationMs <= 0) return 0;
  return Math.max(1, Math.ceil((durationMs - paddingMsMax) / 1000));
}
