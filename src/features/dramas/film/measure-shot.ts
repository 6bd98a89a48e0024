import { stat } from "node:fs/promises";
import { join } from "node:path";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import type { FilmLine, FilmShot } from "./film-order.ts";
import { type ProbedClip, probeClip } from "./probe-clip.ts";
import { blameShot, describeInput } from "./shot-input.ts";
import { bytesPerSecond, soundFormat } from "./sound-format.ts";

/** A probed shot, with the sound of its lines decoded to files of one format. */
export type MeasuredShot = {
  clip: ProbedClip;
  /** ffmpeg options and path of the clip. */
  clipInput: readonly string[];
  lines: readonly (FilmLine & { sound: DecodedSound | null })[];
  isVoiced: boolean;
  seconds: number;
};

export type DecodedSound = { path: string; seconds: number };

type ProbedShot = Pick<MeasuredShot, "clip" | "clipInput"> & { wanted: readonly (WantedSound | null)[] };

type WantedSound = { number: number; input: readonly string[]; path: string };

type Measuring = {
  folder: string;
  signal: AbortSignal;
  /** Called after each shot. */
  onShot(number: number): void;
};

const lineSecondsMax = 600;
const linesAtOnceMax = 20;
const decodeMsMax = 180_000;
/** Shorter audio counts as silence. */
const soundSecondsMin = 0.05;

/** Probes all clips and decodes all lines before rendering. Throws a `FilmError` that names the shot. */
export async function measureShots(
  shots: readonly FilmShot[],
  { folder, signal, onShot }: Measuring,
): Promise<MeasuredShot[]> {
  const probed: ProbedShot[] = [];
  for (const [number, shot] of shots.entries()) {
    const context = { number, signal };
    const clipInput = describeInput(shot.clipPath, shot.contentType, context);
    const wanted = shot.lines.map(({ audio }, index): WantedSound | null => {
      if (audio === null) return null;
      const input = describeInput(audio.path, audio.contentType, context);
      return { number, input, path: join(folder, `line-${number}-${index}.pcm`) };
    });
    probed.push({ clip: await probeClip(clipInput, context), clipInput, wanted });
    onShot(number);
  }
  const sounds = probed.flatMap(({ wanted }) => wanted.flatMap((sound) => sound ?? []));
  for (let from = 0; from < sounds.length; from += linesAtOnceMax) {
    await decodeSounds(sounds.slice(from, from + linesAtOnceMax), signal);
  }
  return await Promise.all(shots.map((shot, number) => describeShot(shot, probed[number] as ProbedShot)));
}

async function describeShot(shot: FilmShot, { clip, clipInput, wanted }: ProbedShot): Promise<MeasuredShot> {
  const lines = shot.lines.map(async (line, index) => {
    const sound = wanted[index] ?? null;
    return { ...line, sound: sound === null ? null : await findSound(sound.path) };
  });
  return {
    clip,
    clipInput,
    lines: await Promise.all(lines),
    // If the clip should contain the lines but is silent, their audio is mixed in.
    isVoiced: shot.isVoiced && clip.hasSound,
    seconds: shot.seconds,
  };
}

/** Decodes many lines in one process. If that fails, decodes them one by one to find the shot at fault. */
async function decodeSounds(wanted: readonly WantedSound[], signal: AbortSignal): Promise<void> {
  try {
    await runMediaTool({
      tool: "ffmpeg",
      source: "strangers",
      args: [
        ...wanted.flatMap(({ input }) => ["-t", String(lineSecondsMax), ...input]),
        ...wanted.flatMap(({ path }, index) => ["-map", `${index}:a:0`, ...soundFormat, `file:${path}`]),
      ],
      signal,
      timeoutMs: decodeMsMax,
      stdoutBytesMax: 1000,
    });
  } catch (error) {
    const [first, ...others] = wanted;
    if (first === undefined || others.length === 0) throw blameShot(error, { number: first?.number ?? 0, signal });
    for (const one of wanted) await decodeSounds([one], signal);
  }
}

/** `null` if it is too short to hear. */
export async function findSound(path: string): Promise<DecodedSound | null> {
  const seconds = (await stat(path)).size / bytesPerSecond;
  return seconds < soundSecondsMin ? null : { path, seconds };
}
