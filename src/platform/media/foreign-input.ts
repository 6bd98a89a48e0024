import { decoders } from "./media-decoders.ts";

/** A stranger's file, for ffmpeg: what it is was decided by its content, and only good decoders read it. */
export function describeForeignInput(path: string, demuxer: string): string[] {
  return [...describeForeign(demuxer), "-i", `file:${path}`];
}

/** The same without the path, which ffprobe takes at the end. */
export function describeForeign(demuxer: string): string[] {
  return ["-codec_whitelist", decoders, "-f", demuxer];
}
