import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plainOutput } from "../../../platform/media/plain-output.ts";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import type { MediaToolCall } from "../../../platform/media/start-media-tool.ts";
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
  /** A WebVTT file for the text track; `null` for none. */
  trackPath: string | null;
  seconds: number;
  path: string;
  signal: AbortSignal;
};

const joinMsMin = 60_000;
const joinMsPerSecond = 1000;
/** The target loudness in LUFS for streaming (EBU R 128 s2). */
const loudnessWanted = -16;
/** Below the −1.5 dBTP limit, because encoding raises some peaks. */
const peakDbMax = -2.5;
/** A quieter film counts as silent and is left alone. */
const audibleLoudnessMin = -55;
const toleranceDb = 0.3;
/** Each corrects what the limiter removed in the previous pass. */
const correctionsMax = 3;
const measureBytesMax = 64 * 1024 * 1024;

/**
 * Concatenates the pieces without re-encoding, at the target loudness. Measures the result while writing it, because the
 * limiter may remove too much; then it is written again.
 */
export async function joinPieces(call: JoinCall): Promise<void> {
  await writeFile(nameList(call), listPieces(call.pieces));
  const { soundPath, signal } = call;
  const measured = await runMeter({
    args: [...soundInput, `file:${soundPath}`, "-af", meter, "-f", "null", "-"],
    signal,
    timeoutMs: limitTime(call),
  });
  if (measured < audibleLoudnessMin) {
    await writeFilm(call, "anull");
    return;
  }
  let gainDb = loudnessWanted - measured;
  for (let pass = 0; ; pass += 1) {
    const missedDb = loudnessWanted - (await writeFilm(call, describeLevel(gainDb)));
    if (Math.abs(missedDb) <= toleranceDb || pass === correctionsMax) return;
    gainDb += missedDb;
  }
}

function nameList({ folder }: JoinCall): string {
  return join(folder, "pieces.txt");
}

function limitTime({ seconds }: JoinCall): number {
  return joinMsMin + seconds * joinMsPerSecond;
}

/** Returns the loudness of what it wrote. */
async function writeFilm(call: JoinCall, filters: string): Promise<number> {
  const { folder, pieces, soundPath, trackPath, path, signal } = call;
  return await runMeter({
    alsoReads: pieces.map(({ name }) => join(folder, name)),
    args: [
      ...["-f", "concat", "-i", `file:${nameList(call)}`, ...soundInput, `file:${soundPath}`],
      ...(trackPath === null ? [] : ["-f", "webvtt", "-i", `file:${trackPath}`]),
      ...["-filter_complex", `[1:a:0]${filters},asplit[sound][copy];[copy]${meter},anullsink`],
      ...["-map", "0:v:0", "-map", "[sound]", ...plainOutput],
      // Removes SEI units, in which the encoder stores its name and settings.
      ...["-c:v", "copy", "-bsf:v", "filter_units=remove_types=6"],
      ...(trackPath === null ? [] : ["-map", "2:s:0", "-c:s", "mov_text", "-disposition:s:0", "default"]),
      ...["-c:a", "aac", "-b:a", "160k", "-ac", "2", "-ar", "48000"],
      ...["-movflags", "+faststart", "-f", "mp4", `file:${path}`],
    ],
    signal,
    timeoutMs: limitTime(call),
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

/** Oversamples four times, so that the limiter also catches peaks between samples. */
function describeLevel(gainDb: number): string {
  const limiter = `alimiter=limit=${fromDecibels(peakDbMax).toFixed(4)}:attack=3:release=60:level=0`;
  return `volume=${gainDb.toFixed(2)}dB:precision=float,aresample=${4 * samplesPerSecond},${limiter},aresample=${samplesPerSecond}`;
}

const meter = "ebur128=metadata=1,ametadata=print:key=lavfi.r128.I:file=-";

/** Runs ffmpeg with a meter; returns the integrated loudness by EBU R 128, in LUFS. */
async function runMeter(call: Pick<MediaToolCall, "args" | "alsoReads" | "signal" | "timeoutMs">): Promise<number> {
  let loudness = Number.NEGATIVE_INFINITY;
  await runMediaTool({
    ...call,
    tool: "ffmpeg",
    source: "ours",
    stdoutBytesMax: measureBytesMax,
    onLine(line) {
      const value = /^lavfi\.r128\.I=(-?[\d.]+)/.exec(line)?.[1];
      if (value !== undefined) loudness = Number(value);
    },
  });
  return loudness;
}
