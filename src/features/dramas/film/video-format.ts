import { plainOutput } from "../../../platform/media/plain-output.ts";
import { framesPerSecond } from "./plan-timeline.ts";

/** What the pieces of a film have in common, to the bit: else they could not be joined without coding them again. */
export const pieceFormat = [
  ...["-an", "-r", String(framesPerSecond), ...plainOutput],
  ...["-c:v", "libx264", "-preset", "veryfast", "-crf", "21", "-pix_fmt", "yuv420p", "-g", "96", "-threads", "2"],
  ...["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"],
  ...["-f", "mp4"],
];

/** A scaler that brings whatever comes to these colours. */
export function scaleTo({ width, height }: { width: number; height: number }, colourMatrix = "auto"): string {
  const colours = `in_color_matrix=${colourMatrix}:out_color_matrix=bt709:out_range=tv`;
  return `scale=${width}:${height}:${colours},setsar=1,format=yuv420p`;
}
