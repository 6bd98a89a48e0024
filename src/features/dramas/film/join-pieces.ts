import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plainOutput } from "../../../platform/media/plain-output.ts";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import { framesPerSecond } from "./plan-timeline.ts";
import { samplesPerSecond, soundInput } from "./sound-format.ts";
import { fromDecibels } from "./speech-level.ts";

export type Piece = { name: string; frameCount: number };

type JoinCall = {
  folder: string;
  /** Videos in the folder, all in the same format. */
  pieces: readonly Piece[];
  /** The sound of the whole film. */
  soundPath: string;
  seconds: number;
  path: string;
  signal: AbortSignal;
};

type LevelCall = Pick<JoinCall, "soundPath" | "signal"> & { timeoutMs: number };

const joinMsMin = 60_000;
const joinMsPerSecond = 1000;
/** The target loudness in LUFS for streaming (EBU R 128 s2). */
const loudnessWanted = -16;
/** Below the −1.5 dBTP limit, because encoding raises some peaks. */
const peakDbMax = -2.5;
/** A quieter film counts as silent and is left alone. */
const audibleLoudnessMin = -55;
const toleranceDb = 0.3;
/** Each pass corrects what the limiter removed in the previous one. */
const passesMax = 3;
const measureBytesMax = 64 * 1024 * 1024;

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

/** The filters that bring a film to the target loudness without exceeding the peak limit. */
async function levelSound(call: LevelCall): Promise<string> {
  const measured = await measureLoudness("anull", call);
  if (measured < audibleLoudnessMin) return "anull";
  let gainDb = loudnessWanted - measured;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const missedDb = loudnessWanted - (await measureLoudness(describeLevel(gainDb), call));
    if (Math.abs(missedDb) <= toleranceDb) break;
    gainDb += missedDb;
  }
  return describeLevel(gainDb);
}

/** Oversamples four times, so that the limiter also catches peaks between samples. */
function describeLevel(gainDb: number): string {
  const limiter = `alimiter=limit=${fromDecibels(peakDbMax).toFixed(4)}:attack=3:release=60:level=0`;
  return `volume=${gainDb.toFixed(2)}dB:precision=float,aresample=${4 * samplesPerSecond},${limiter},aresample=${samplesPerSecond}`;
}

/** The integrated loudness by EBU R 128, in LUFS. */
async function measureLoudness(filters: string, { soundPath, timeoutMs, signal }: LevelCall): Promise<number> {
  let loudness = Number.NEGATIVE_INFINITY;
  const meter = "ebur128=metadata=1,ametadata=print:key=lavfi.r128.I:file=-";
  await runMediaTool({
    tool: "ffmpeg",
    source: "ours",
    args: [...soundInput, `file:${soundPath}`, "-af", `${filters},${meter}`, "-f", "null", "-"],
    signal,
    timeoutMs,
    stdoutBytesMax: measureBytesMax,
    onLine(line) {
      const value = /^lavfi\.r128\.I=(-?[\d.]+)/.exec(line)?.[1];
      if (value !== undefined) loudness = Number(value);
    },
  });
  return loudness;
}
