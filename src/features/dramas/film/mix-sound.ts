import { type FileHandle, open } from "node:fs/promises";
import { invariant } from "../../../lib/invariant.ts";
import type { DecodedSound, MeasuredShot } from "./measure-shot.ts";
import { filmFadeSeconds, framesPerSecond, type PlannedShot, type Timeline } from "./plan-timeline.ts";
import { chooseBedGain, chooseSpeechGain, fadeBetween, type Span } from "./sound-envelope.ts";
import { bytesPerSample, samplesPerSecond } from "./sound-format.ts";
import { blockBytes, createLevelMeter, fromDecibels } from "./speech-level.ts";

const samplesPerFrame = samplesPerSecond / framesPerSecond;
const blockSamples = blockBytes / bytesPerSample;
/** Headroom for overlapping sounds; loudness is normalized afterwards. */
const headroom = fromDecibels(-6);
/** A fade too short to hear. */
const none = { in: Number.EPSILON, out: Number.EPSILON };

/** A sound of a shot, open for reading. */
type OpenSound = Span & { handle: FileHandle; gain: number };

type ShotSound = {
  sampleCount: number;
  bed: OpenSound | null;
  speech: readonly OpenSound[];
  /** The film's fade, if it starts or ends with this shot. */
  fade: { in: number; out: number };
};

/** A shot with its clip's own sound; `null` if it has none. */
export type HeardShot = MeasuredShot & { clipSound: DecodedSound | null };

/** Writes the sound of the whole film in blocks: silence under the title card, then shot by shot. */
export async function mixSound(
  path: string,
  { shots, timeline, signal }: { shots: readonly HeardShot[]; timeline: Timeline; signal: AbortSignal },
): Promise<void> {
  const output = await open(path, "w", 0o600);
  try {
    await mixShot(
      output,
      { sampleCount: timeline.titleFrames * samplesPerFrame, bed: null, speech: [], fade: none },
      signal,
    );
    for (const [index, shot] of shots.entries()) {
      const planned = timeline.shots[index];
      invariant(planned !== undefined, "every shot was planned");
      const fade = {
        in: index === 0 ? filmFadeSeconds : none.in,
        out: index === shots.length - 1 ? filmFadeSeconds : none.out,
      };
      const opened: FileHandle[] = [];
      try {
        await mixShot(output, { ...(await openShot(shot, planned, opened)), fade }, signal);
      } finally {
        await Promise.all(opened.map((handle) => handle.close()));
      }
    }
  } finally {
    await output.close();
  }
}

async function openShot(shot: HeardShot, planned: PlannedShot, opened: FileHandle[]): Promise<Omit<ShotSound, "fade">> {
  const openSound = async (sound: DecodedSound, start: number): Promise<OpenSound> => {
    const handle = await open(sound.path, "r");
    opened.push(handle);
    return { handle, start, end: start + sound.seconds, gain: 1 };
  };
  const sampleCount = planned.frameCount * samplesPerFrame;
  const clip = shot.clipSound === null ? null : await openSound(shot.clipSound, 0);
  if (shot.isVoiced && clip !== null) return { sampleCount, bed: null, speech: [await level(clip)] };
  const speech: OpenSound[] = [];
  for (const [index, { sound }] of shot.lines.entries()) {
    const line = planned.lines[index];
    invariant(line !== undefined, "every line was planned");
    if (sound === null) continue;
    speech.push(await level(await openSound(sound, line.startSeconds)));
  }
  return { sampleCount, bed: clip, speech };
}

async function level(sound: OpenSound): Promise<OpenSound> {
  const meter = createLevelMeter();
  for (let at = 0; ; at += blockSamples) {
    const samples = await readSamples(sound.handle, at, blockSamples);
    if (samples.length === 0) break;
    meter.add(samples);
  }
  return { ...sound, gain: meter.chooseGain() };
}

async function mixShot(output: FileHandle, shot: ShotSound, signal: AbortSignal): Promise<void> {
  for (let from = 0; from < shot.sampleCount; from += blockSamples) {
    signal.throwIfAborted();
    const count = Math.min(blockSamples, shot.sampleCount - from);
    const mixed = await mixBlock(shot, from, count);
    await output.writeFile(mixed);
  }
}

async function mixBlock({ bed, speech, fade, sampleCount }: ShotSound, from: number, count: number): Promise<Buffer> {
  const sums = new Float32Array(count * 2);
  const block = { start: from / samplesPerSecond, end: (from + count) / samplesPerSecond };
  const shotSeconds = sampleCount / samplesPerSecond;
  if (bed !== null && bed.end > block.start) {
    const end = Math.min(bed.end, shotSeconds);
    await addSound(sums, from, bed, (now) => chooseBedGain(now, end, speech));
  }
  for (const sound of speech) {
    if (sound.end < block.start || sound.start > block.end) continue;
    const span = { start: sound.start, end: Math.min(sound.end, shotSeconds) };
    await addSound(sums, from, sound, (now) => sound.gain * chooseSpeechGain(now, span));
  }
  const bytes = Buffer.alloc(count * bytesPerSample);
  for (let index = 0; index < count; index += 1) {
    const gain = headroom * fadeBetween((from + index) / samplesPerSecond, { start: 0, end: shotSeconds }, fade);
    bytes.writeInt16LE(toWhole((sums[index * 2] ?? 0) * gain), index * bytesPerSample);
    bytes.writeInt16LE(toWhole((sums[index * 2 + 1] ?? 0) * gain), index * bytesPerSample + 2);
  }
  return bytes;
}

/** Adds the part of a sound that falls into the block starting at a sample of the shot. */
async function addSound(
  sums: Float32Array,
  from: number,
  { handle, start }: OpenSound,
  chooseGain: (now: number) => number,
): Promise<void> {
  const offset = Math.round(start * samplesPerSecond) - from;
  const first = Math.max(0, offset);
  const samples = await readSamples(handle, first - offset, sums.length / 2 - first);
  for (let index = 0; index < samples.length; index += 2) {
    const place = first + index / 2;
    const gain = chooseGain((from + place) / samplesPerSecond);
    sums[place * 2] = (sums[place * 2] ?? 0) + (samples[index] ?? 0) * gain;
    sums[place * 2 + 1] = (sums[place * 2 + 1] ?? 0) + (samples[index + 1] ?? 0) * gain;
  }
}

function toWhole(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}

/** Interleaved stereo; returns fewer samples at the end of the file. */
async function readSamples(handle: FileHandle, from: number, count: number): Promise<Int16Array> {
  const buffer = Buffer.alloc(Math.max(0, count) * bytesPerSample);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from * bytesPerSample);
  return new Int16Array(buffer.buffer, buffer.byteOffset, 2 * Math.floor(bytesRead / bytesPerSample));
}
