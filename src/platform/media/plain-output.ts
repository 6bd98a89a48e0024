/** What ffmpeg writes is the same on every machine: no dates, no names of programs. */
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
