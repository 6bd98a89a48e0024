/** A subtitle timestamp: `00:01:02.345` in WebVTT, with a comma in SubRip. */
export function writeSubtitleTime(milliseconds: number, separator: "." | ","): string {
  const pad = (value: number, length = 2): string => String(Math.floor(value)).padStart(length, "0");
  const [hours, minutes, seconds] = [
    milliseconds / 3_600_000,
    (milliseconds / 60_000) % 60,
    (milliseconds / 1000) % 60,
  ];
  return `${pad(hours)}:${pad(minutes)}:${pad(seconds)}${separator}${pad(milliseconds % 1000, 3)}`;
}
