import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plainOutput } from "../../../platform/media/plain-output.ts";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import { levelSound } from "./level-sound.ts";
import { framesPerSecond } from "./plan-timeline.ts";
import { soundInput } from "./sound-format.ts";

export type Piece = { name: string; frameCount: number };

export type JoinCall = {
  folder: string;
  /** Videos in the folder, all in the same format. */
  pieces: readonly Piece[];
  /** The sound of the whole film. */
  soundPath: string;
  seconds: number;
  path: string;
  signal: AbortSignal;
};

const joinMsMin = 60_000;
const joinMsPerSecond = 1000;

/** Concatenates the pieces without re-encoding, and normalizes the loudness. */
export async function joinPieces({ folder, pieces, soundPath, seconds, path, signal }: JoinCall): Promise<void> {
  const timeoutMs = joinMsMin + seconds * joinMsPerSecond;
  const filters = await levelSound({ soundPath, timeoutMs, signal });
  const listPath = join(folder, "pieces.txt");
  await writeFile(listPath, listPieces(pieces));
  await runMediaTool({
    tool: "ffmpeg",
    source: "ours",
    alsoReads: pieces.map(({ name }) => join(folder, name)),
    args: [
      ...["-f", "concat", "-i", `file:${listPath}`, ...soundInput, `file:${soundPath}`],
      ...["-map", "0:v:0", "-map", "1:a:0", ...plainOutput],
      // Removes SEI units, in which the encoder stores its name and settings.
      ...["-c:v", "copy", "-bsf:v", "filter_units=remove_types=6"],
      ...["-af", filters, "-c:a", "aac", "-b:a", "160k", "-ac", "2", "-ar", "48000"],
      ...["-movflags", "+faststart", "-f", "mp4", `file:${path}`],
    ],
    signal,
    timeoutMs,
    stdoutBytesMax: 1000,
  });
}

/**
 * MP4 durations have millisecond precision, so video and audio would drift apart over many pieces. Explicit durations in
 * microseconds keep the error below one frame.
 */
function listPieces(pieces: readonly Piece[]): string {
  let frames = 0;
  const toMicroseconds = (count: number): number => Math.round((count * 1_000_000) / framesPerSecond);
  const lines = pieces.map(({ name, frameCount }) => {
    const start = toMicroseconds(frames);
    frames += frameCount;
    return `file '${name}'\nduration ${((toMicroseconds(frames) - start) / 1_000_000).toFixed(6)}\n`;
  });
  return `ffconcat version 1.0\n${lines.join("")}`;
}
