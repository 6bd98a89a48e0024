import { rename } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  describeUntrustedInput,
  findDemuxer,
  MediaToolError,
  plainOutput,
  runMediaTool,
} from "../../../../../src/providers/adapter-tools.ts";
import type { AvatarRequest } from "../../../../../src/providers/generation.ts";
import { readPhoto } from "../image/grade-photos.ts";
import { type PhotoWarp, samplePhoto } from "../image/sample-photo.ts";
import { hasFace } from "../people/has-face.ts";
import { OrderRefusal, type ReportStudio, type StudioOrder } from "../studio-order.ts";
import { drawVoiceStrip, type VoiceStrip } from "./draw-voice-strip.ts";
import { encodeVideo, videoCodecs } from "./encode-video.ts";
import { createPlanarFrame, toPlanar } from "./planar-frame.ts";
import { findVideoSize, framesPerSecond } from "./video-sizes.ts";

const voiceRate = 24_000;
const avatarSecondsMax = 600;
const photoScale = 1.12;
const encodeMsPerSecond = 4000;
const encodeMsMin = 60_000;

type AvatarPlan = {
  width: number;
  height: number;
  strip: VoiceStrip;
  seconds: number;
  levels: Float32Array;
  /** The encoder's options and path for the voice. */
  voiceInput: readonly string[];
  path: string;
  report: ReportStudio;
};

type MediaInput = StudioOrder["inputs"][number];

/** A video of the given person with the given voice, exactly as long as the voice. */
export async function makeAvatar(order: StudioOrder & { request: AvatarRequest }, report: ReportStudio): Promise<void> {
  const size = findVideoSize(order.request.aspectRatio);
  if (size === null) throw new OrderRefusal(`There is no size for ${order.request.aspectRatio}.`);
  const person = findInput(order, "person");
  const voice = findInput(order, "audio");
  const isVideo = person.contentType.startsWith("video/");
  // Before the voice is read, as vendors do.
  if (!isVideo) await requireFace(person);
  const voiceInput = describeUntrustedInput(voice.path, chooseDemuxer(voice));
  const samples = await readVoice(voiceInput);
  const path = join(order.folder, "avatar.part");
  const plan: AvatarPlan = {
    ...size,
    strip: { width: size.width, height: 2 * Math.round(Math.min(size.width, size.height) * 0.12) },
    seconds: samples.length / voiceRate,
    levels: smoothVoice(measureVoice(samples, voiceRate)),
    voiceInput,
    path,
    report,
  };
  if (isVideo) await loopPerson(plan, person);
  else await animatePerson(plan, person);
  await rename(path, join(order.folder, "avatar.mp4"));
  report({ kind: "output", type: "video", name: "avatar.mp4" });
}

async function requireFace({ path, role }: MediaInput): Promise<void> {
  const isPerson = await hasFace(path).catch((error: unknown) => {
    throw refuseInput(role, `The image of the person cannot be read: ${String(error)}`);
  });
  if (!isPerson) throw refuseInput(role, "There is no face in the image of the person.");
}

function refuseInput(role: MediaInput["role"], message: string): OrderRefusal {
  return new OrderRefusal(message, { param: role === "audio" ? "audio_file_id" : "avatar_file_id" });
}

function findInput({ inputs }: StudioOrder, role: MediaInput["role"]): MediaInput {
  const input = inputs.find((each) => each.role === role);
  if (input === undefined) throw new OrderRefusal(`There is no ${role}.`);
  return input;
}

function chooseDemuxer({ contentType, role }: MediaInput): string {
  const demuxer = findDemuxer(contentType);
  if (demuxer === null) throw refuseInput(role, `The ${role} has an unsupported type: ${contentType}`);
  return demuxer;
}

async function readVoice(voiceInput: readonly string[]): Promise<Int16Array> {
  const limit = String(avatarSecondsMax + 1);
  const output = ["-vn", "-t", limit, "-ac", "1", "-ar", String(voiceRate), "-f", "s16le", "pipe:1"];
  const bytes = await runTool([...voiceInput, ...output], 2 * voiceRate * (avatarSecondsMax + 2), encodeMsMin * 2);
  const samples = new Int16Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 2));
  if (samples.length < voiceRate / 10) throw refuseInput("audio", "There is no voice in the audio.");
  if (samples.length > voiceRate * avatarSecondsMax)
    throw refuseInput("audio", `The audio is longer than ${avatarSecondsMax} seconds.`);
  return samples;
}

async function runTool(args: readonly string[], stdoutBytesMax: number, timeoutMs: number): Promise<Buffer> {
  try {
    const { stdout } = await runMediaTool({
      tool: "ffmpeg",
      source: "strangers",
      args,
      stdoutBytesMax,
      timeoutMs,
      signal: new AbortController().signal,
    });
    // An Int16Array needs an even byte offset.
    return stdout.byteOffset % 2 === 0 ? stdout : Buffer.from(stdout);
  } catch (error) {
    if (error instanceof MediaToolError && error.kind === "failed")
      throw refuseInput("audio", `The audio cannot be read: ${JSON.stringify(error.detail)}`);
    throw error;
  }
}

/** Animates a photo: the camera breathes and nods with the voice, and the jaw follows it. */
async function animatePerson(plan: AvatarPlan, person: MediaInput): Promise<void> {
  const { width, height, levels, report } = plan;
  const size = { width: 2 * Math.round((width * photoScale) / 2), height: 2 * Math.round((height * photoScale) / 2) };
  const pixels = await readPhoto(person.path, size.width, size.height);
  const photo = toPlanar(pixels, size.width, size.height);
  const jaw = createJaw(width, height);
  function* drawFrames(): Generator<Uint8Array> {
    for (const [index, level] of levels.entries()) {
      const frame = createPlanarFrame(width, height);
      const now = index / framesPerSecond;
      const view = {
        x: size.width / 2 + Math.sin(now * 0.31) * width * 0.012,
        y: size.height / 2 + (Math.sin(now * 0.53) * 0.006 + level * 0.004) * height,
        step: 1.05 + 0.03 * Math.sin(now * 0.42) - 0.016 * level,
      };
      samplePhoto(frame, photo, view, jaw(level));
      report({ kind: "progress", percent: Math.floor((99 * (index + 1)) / levels.length) });
      yield frame.bytes;
    }
  }
  await encodeVideo({
    ...plan,
    pixelFormat: "yuv420p",
    frames: drawFrames(),
    soundInput: plan.voiceInput,
    source: "strangers",
    timeoutMs: encodeMsMin + plan.seconds * encodeMsPerSecond,
  });
}

/** In a portrait the face is in the middle, and the mouth a little below. */
function createJaw(width: number, height: number): (level: number) => PhotoWarp {
  const [middleX, middleY] = [width / 2, height * 0.54];
  const side = Math.min(width, height);
  const [reachX, reachY] = [side * 0.15, side * 0.13];
  const columns = Float32Array.from({ length: width }, (_, x) => Math.exp(-(((x - middleX) / reachX) ** 2)));
  const rows = Float32Array.from({ length: height }, (_, y) => Math.exp(-(((y - middleY) / reachY) ** 2)));
  return (level) => {
    const drop = level * side * 0.014;
    return drop < 0.05 ? null : { drop, columns, rows };
  };
}

/** Repeats a video of the person until the voice ends. */
async function loopPerson(plan: AvatarPlan, person: MediaInput): Promise<void> {
  const { width, height, strip, voiceInput, seconds, path } = plan;
  const fit = `[0:v:0]fps=${framesPerSecond},scale=${width}:${height}:force_original_aspect_ratio=increase,crop=${width}:${height},setsar=1[person]`;
  const lay = `[person][1:v:0]overlay=0:${height - strip.height}:format=auto:shortest=1[video]`;
  await runMediaTool({
    tool: "ffmpeg",
    source: "strangers",
    args: [
      ...["-stream_loop", "-1", ...describeUntrustedInput(person.path, chooseDemuxer(person))],
      ...[
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgba",
        "-s",
        `${strip.width}x${strip.height}`,
        "-r",
        String(framesPerSecond),
        "-i",
        "pipe:0",
      ],
      ...voiceInput,
      ...["-filter_complex", `${fit};${lay}`, "-map", "[video]", "-map", "2:a:0", "-t", seconds.toFixed(6)],
      ...plainOutput,
      ...videoCodecs,
      `file:${path}`,
    ],
    input: Readable.from(drawStrips(plan), { objectMode: true, highWaterMark: 1 }),
    signal: new AbortController().signal,
    timeoutMs: encodeMsMin + seconds * encodeMsPerSecond,
    stdoutBytesMax: 1_000_000,
  });
}

/** The voice as bars, which the encoder overlays at the bottom. */
function* drawStrips({ levels, strip, report }: AvatarPlan): Generator<Uint8Array> {
  for (const index of levels.keys()) {
    const pixels = new Uint8Array(strip.width * strip.height * 4);
    drawVoiceStrip(pixels, strip, levels, index);
    report({ kind: "progress", percent: Math.floor((99 * (index + 1)) / levels.length) });
    yield pixels;
  }
}

/** The loudness of speech in each frame of a video: 0 is silence, 1 the maximum. 16 bits, one channel. */
function measureVoice(samples: Int16Array, samplesPerSecond: number): Float32Array {
  const stride = samplesPerSecond / framesPerSecond;
  const count = Math.max(1, Math.ceil(samples.length / stride));
  const levels = new Float32Array(count);
  for (let frame = 0; frame < count; frame += 1) {
    const part = samples.subarray(Math.round(frame * stride), Math.round((frame + 1) * stride));
    const sum = part.reduce((total, value) => total + value * value, 0);
    levels[frame] = Math.sqrt(sum / Math.max(1, part.length));
  }
  const loud = levels.toSorted()[Math.floor(count * 0.95)] ?? 0;
  // Below this it is background noise.
  const scale = Math.max(loud, 300);
  return levels.map((level) => Math.min(1, level / scale));
}

/** Rises at once and falls slowly. */
function smoothVoice(levels: Float32Array): Float32Array {
  let value = 0;
  return levels.map((level) => {
    value += (level - value) * (level > value ? 0.75 : 0.35);
    return value;
  });
}
