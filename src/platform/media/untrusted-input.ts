/** Common decoders that are robust against hostile input, for `-codec_whitelist`. */
export const decoders = [
  "h264,hevc,vp8,libvpx,vp9,libvpx-vp9,av1,libaom-av1,libdav1d,mpeg4,prores,mjpeg,png",
  "aac,mp3,mp3float,opus,libopus,vorbis,libvorbis,flac,alac",
  "pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f64le,pcm_alaw,pcm_mulaw",
].join(",");

/** ffmpeg demuxers by content type. The content type was detected at upload, so ffmpeg does not probe. */
const demuxers: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/mp4": "mov",
  "audio/x-m4a": "mov",
  "audio/m4a": "mov",
  "audio/ogg": "ogg",
  "audio/flac": "flac",
  "audio/x-flac": "flac",
  "audio/webm": "matroska",
  "video/mp4": "mov",
  "video/quicktime": "mov",
  "video/webm": "matroska",
};

export function findDemuxer(contentType: string): string | null {
  const kind = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  return Object.hasOwn(demuxers, kind) ? (demuxers[kind] ?? null) : null;
}

/** ffmpeg arguments for a user-supplied file, with a fixed demuxer and a decoder whitelist. */
export function describeUntrustedInput(path: string, demuxer: string): string[] {
  return ["-codec_whitelist", decoders, "-f", demuxer, "-i", `file:${path}`];
}
