/** How each kind of file is read. What a file is was decided by its content when it was uploaded; nothing is guessed. */
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
