/** Reproducible ffmpeg output: no dates or program names. */
export const plainOutput = [
  "-map_metadata",
  "-1",
  "-fflags",
  "+bitexact",
  "-flags:v",
  "+bitexact",
  "-flags:a",
  "+bitexact",
];
