import { stat } from "node:fs/promises";
import { join } from "node:path";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import { FilmError } from "./film-error.ts";
import type { FilmLine, FilmShot } from "./film-order.ts";
import { clipSecondsMax, type ProbedClip, probeClip } from "./probe-clip.ts";
import { blameShot, describeInput, type ShotContext } from "./shot-input.ts";
import { bytesPerSecond, soundFormat } from "./sound-format.ts";

/** A probed shot, with all sound decoded to files of one format. */
export type MeasuredShot = {
  clip: ProbedClip;
  /** ffmpeg options and path of the clip. */
  clipInput: readonly string[];
  /** The clip's own sound; `null` if it has none. */
  clipSound: DecodedSound | null;
  lines: readonly (FilmLine & { sound: DecodedSound | null })[];
  isVoiced: boolean;
  seconds: number;
};

export type DecodedSound = { path: string; seconds: number };

type WantedSound = { input: readonly string[]; path: string };

const lineSecondsMax = 600;
const decodeMsMax = 180_000;
/** Shorter audio counts as silence. */
const soundSecondsMin = 0.05;
const sampleSide = 16;

/** Probes and decodes a shot before rendering. Throws a `FilmError` that names the shot. */
export async function measureShot(shot: FilmShot, folder: string, context: ShotContext): Promise<MeasuredShot> {
  const clipInput = describeInput(shot.clipPath, shot.contentType, context);
  const clip = await probeClip(clipInput, context);
  const clipSound = clip.hasSound ? join(folder, `clip-${context.number}.pcm`) : null;
  const firstPath = join(folder, `first-${context.number}.raw`);
  const lines = shot.lines.map((line, index) => ({ line, wanted: wantSound(line, index, folder, context) }));
  const wanted = lines.flatMap((line) => line.wanted ?? []);
  await decodeShot({ clipInput, clipSound, firstPath, wanted }, context);
  if ((await stat(firstPath)).size < sampleSide ** 2) {
    throw new FilmError("A clip has no readable video frame.", { shot: context.number });
  }
  const heard = clipSound === null ? null : await findSound(clipSound);
  return {
    clip,
    clipInput,
    clipSound: heard,
    lines: await Promise.all(
      lines.map(async ({ line, wanted: sound }) => ({ ...line, sound: sound && (await findSound(sound.path)) })),
    ),
    // If the clip should contain the lines but is silent, their audio is mixed in.
    isVoiced: shot.isVoiced && heard !== null,
    seconds: shot.seconds,
  };
}

function wantSound({ audio }: FilmLine, index: number, folder: string, context: ShotContext): WantedSound | null {
  if (audio === null) return null;
  return {
    input: describeInput(audio.path, audio.contentType, context),
    path: join(folder, `line-${context.number}-${index}.pcm`),
  };
}

type DecodeCall = {
  clipInput: readonly string[];
  clipSound: string | null;
  firstPath: string;
  wanted: readonly WantedSound[];
};

async function decodeShot({ clipInput, clipSound, firstPath, wanted }: DecodeCall, context: ShotContext) {
  try {
    await runMediaTool({
      tool: "ffmpeg",
      source: "strangers",
      args: [
        ...["-threads", "2", "-skip_frame", "nokey", "-t", String(clipSecondsMax), ...clipInput],
        ...wanted.flatMap(({ input }) => ["-t", String(lineSecondsMax), ...input]),
        // Decode one frame as a proof, whatever the metadata claims; more is not needed.
        ...["-map", "0:V:0", "-frames:v", "1", "-s", `${sampleSide}x${sampleSide}`, "-pix_fmt", "gray"],
        ...["-f", "rawvideo", `file:${firstPath}`],
        ...(clipSound === null ? [] : ["-map", "0:a:0", ...soundFormat, `file:${clipSound}`]),
        ...wanted.flatMap(({ path }, index) => ["-map", `${index + 1}:a:0`, ...soundFormat, `file:${path}`]),
      ],
      signal: context.signal,
      timeoutMs: decodeMsMax,
      stdoutBytesMax: 1000,
    });
  } catch (error) {
    throw blameShot(error, context);
  }
}

async function findSound(path: string): Promise<DecodedSound | null> {
  const seconds = (await stat(path)).size / bytesPerSecond;
  return seconds < soundSecondsMin ? null : { path, seconds };
}
