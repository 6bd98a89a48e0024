import { withFileWindow } from "./file-window.ts";
import { type InspectedMedia, type Inspection, refuse } from "./inspection.ts";
import { measureWav } from "./measure-wav.ts";
import { MediaToolError } from "./media-tool-error.ts";
import type { MediaType } from "./media-type.ts";
import { runMediaTool } from "./run-media-tool.ts";
import { decoders, describeUntrustedInput } from "./untrusted-input.ts";

type Recording = Extract<MediaType, { reader: "ffmpeg" }>;

/** What ffmpeg read: the streams, and the time of their last packet. */
type Reading = {
  streams: readonly ReadStream[];
  /** From the file's metadata; `null` if absent. */
  declaredMs: number | null;
  readMs: number;
};

type ReadStream = { type: string; codec: string; width: number; height: number };

const readMsMax = 60_000;
const outputBytesMax = 1024 * 1024;
const streamsMax = 8;
const sideMax = 8192;
const durationMsMax = 4 * 60 * 60 * 1000;
/** Decoding costs far more than reading packets: 4 ms of CPU for a frame of 1920 × 1080. */
const sampleSeconds = "1";
const toleranceMs = 500;
const toleranceShare = 0.03;

/** Accepted codecs; `untrusted-input.ts` has the decoders. */
const codecs = {
  video: new Set(["h264", "hevc", "vp8", "vp9", "av1", "mpeg4", "prores", "mjpeg"]),
  audio: new Set(["aac", "mp3", "opus", "vorbis", "flac", "alac"]),
};

const empty = "has no audio or video";
const unsupportedCodec = "has an unsupported codec; use H.264, VP9, AAC or MP3";
const wrongSize = `must have 1 to ${sideMax} pixels on a side`;

const contentTypes = {
  mp3: { audio: "audio/mpeg" },
  wav: { audio: "audio/wav" },
  ogg: { audio: "audio/ogg" },
  flac: { audio: "audio/flac" },
  m4a: { audio: "audio/mp4", video: "video/mp4" },
  mp4: { audio: "audio/mp4", video: "video/mp4" },
  mov: { audio: "audio/mp4", video: "video/quicktime" },
  webm: { audio: "audio/webm", video: "video/webm" },
} as const satisfies Record<Recording["name"], { audio: string; video?: string }>;

/**
 * Reads the header of a plain WAV file. Of any other recording, ffmpeg reads all packets and decodes the first second, in
 * one process: most of its CPU time is loading its libraries.
 */
export async function inspectRecording(path: string, type: Recording, signal: AbortSignal): Promise<Inspection> {
  if (type.name === "wav") {
    const durationMs = await withFileWindow(path, measureWav);
    if (durationMs !== null && durationMs > 0 && durationMs <= durationMsMax) {
      const contentType = contentTypes.wav.audio;
      return { kind: "accepted", media: { kind: "audio", contentType, width: null, height: null, durationMs } };
    }
  }
  try {
    const reading = await readRecording(path, type, signal);
    const media = describeRecording(reading, type);
    if (typeof media === "string") return refuse(media);
    if (await isCutShort(path, type, reading)) return refuse("is incomplete");
    if (reading.readMs === 0) return refuse(empty);
    return { kind: "accepted", media: { ...media, durationMs: chooseDuration(reading) } };
  } catch (error) {
    if (!isFaultOfFile(error)) throw error;
    return refuse(explainFailure(error), error);
  }
}

/** Returns the media, or the reason for rejection. */
function describeRecording({ streams, declaredMs, readMs }: Reading, type: Recording): InspectedMedia | string {
  const videos = streams.filter((stream) => stream.type === "video");
  const sounds = streams.filter((stream) => stream.type === "audio");
  const [video] = videos;
  if (streams.length > streamsMax) return `has more than ${streamsMax} streams`;
  if (video === undefined && sounds.length === 0) return empty;
  const unsupported =
    videos.find(({ codec }) => !codecs.video.has(codec)) ?? sounds.find(({ codec }) => !isSound(codec));
  if (unsupported !== undefined) return unsupportedCodec;
  if (videos.some(({ width, height }) => Math.max(width, height) > sideMax || Math.min(width, height) < 1)) {
    return wrongSize;
  }
  if (Math.max(readMs, declaredMs ?? 0) > durationMsMax) return `is longer than ${durationMsMax / 3_600_000} hours`;
  const types: { audio: string; video?: string } = contentTypes[type.name];
  const contentType = video === undefined ? types.audio : types.video;
  if (contentType === undefined) return `is a video in a container for audio`;
  return {
    kind: video === undefined ? "audio" : "video",
    contentType,
    width: video?.width ?? null,
    height: video?.height ?? null,
    durationMs: readMs,
  };
}

function isSound(codec: string): boolean {
  return codecs.audio.has(codec) || decoders.split(",").some((name) => name.startsWith("pcm_") && name === codec);
}

/** Opens the file twice: once to read all packets, once to decode the first of them. */
async function readRecording(path: string, { name, demuxer }: Recording, signal: AbortSignal): Promise<Reading> {
  const input = ["-threads", "1", "-max_pixels", String(sideMax ** 2), ...describeUntrustedInput(path, demuxer)];
  // Covers are neither read nor decoded.
  const streamsOf = (number: number): string[] => ["-map", `${number}:V?`, "-map", `${number}:a?`];
  const { stdout, log } = await runMediaTool({
    tool: "ffmpeg",
    source: "strangers",
    args: [
      // The log contains the declared duration.
      ...["-loglevel", "info", "-nostats"],
      // A WAV written to a pipe ends like a damaged one; its header shows whether data is missing.
      ...(name === "wav" ? [] : ["-xerror"]),
      ...[...input, "-t", sampleSeconds, ...input],
      // A list of packets, whose head describes each stream.
      ...[...streamsOf(0), "-c", "copy", "-t", "0", "-f", "framecrc", "pipe:1"],
      ...[...streamsOf(0), "-c", "copy", "-f", "null", "-"],
      ...[...streamsOf(1), "-f", "null", "-"],
      ...["-progress", "pipe:1"],
    ],
    signal,
    timeoutMs: readMsMax,
    stdoutBytesMax: outputBytesMax,
  });
  const report = stdout.toString("latin1");
  return { streams: listStreams(report), readMs: readProgress(report), declaredMs: findDeclaredMs(log) };
}

function listStreams(report: string): ReadStream[] {
  const codecs = new Map(
    Array.from(report.matchAll(/^#codec_id (\d+): (\S+)$/gm), ([, index = "", codec = ""]) => [index, codec]),
  );
  const sides = new Map(
    Array.from(report.matchAll(/^#dimensions (\d+): (\d+)x(\d+)$/gm), ([, index = "", width, height]) => [
      index,
      { width: Number(width), height: Number(height) },
    ]),
  );
  return Array.from(report.matchAll(/^#media_type (\d+): (\w+)$/gm), ([, index = "", type = ""]) => ({
    ...{ type, codec: codecs.get(index) ?? "" },
    ...(sides.get(index) ?? { width: 0, height: 0 }),
  }));
}

/** The last time reported. Despite its name, the unit is microseconds. */
function readProgress(report: string): number {
  const last = Array.from(report.matchAll(/^out_time_ms=(\d+)$/gm)).at(-1);
  return Math.round(Number(last?.[1] ?? 0) / 1000);
}

function findDeclaredMs(log: string): number | null {
  const [, hours, minutes, seconds] = /^ {2}Duration: (\d+):(\d\d):(\d\d\.\d+),/m.exec(log) ?? [];
  if (hours === undefined) return null;
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}

/** Packets may exceed the declared duration a little. */
function chooseDuration({ readMs, declaredMs }: Reading): number {
  return declaredMs !== null && Math.abs(declaredMs - readMs) <= toleranceMs ? Math.min(declaredMs, readMs) : readMs;
}

/** Whether the packets end well before the declared duration. */
async function isCutShort(path: string, { name }: Recording, { readMs, declaredMs }: Reading): Promise<boolean> {
  if (declaredMs === null || readMs >= declaredMs - Math.max(toleranceMs, declaredMs * toleranceShare)) return false;
  // Without a frame count, the declared duration of an MP3 is a guess from its first frame.
  return name !== "mp3" || (await hasFrameCount(path));
}

async function hasFrameCount(path: string): Promise<boolean> {
  return await withFileWindow(path, async (file) => {
    const tag = await file.read(0, 10);
    const [a = 0, b = 0, c = 0, d = 0] = tag.subarray(6);
    const tagBytes = tag.toString("latin1", 0, 3) === "ID3" ? 10 + ((a << 21) | (b << 14) | (c << 7) | d) : 0;
    return /Xing|Info|VBRI/.test((await file.read(tagBytes, 256)).toString("latin1"));
  });
}

/** ffmpeg's complaints that callers can act on. */
const complaints: readonly (readonly [complaint: RegExp, reason: string])[] = [
  [/not on whitelist|decoder .*not found|no decoder/i, unsupportedCodec],
  [/does not contain any stream/i, empty],
  [/picture size .* (?:is invalid|exceeds)/i, wrongSize],
];

function explainFailure(error: unknown): string {
  const said = error instanceof MediaToolError ? String(error.detail?.stderr) : "";
  return complaints.find(([complaint]) => complaint.test(said))?.[1] ?? "is damaged or incomplete";
}

/** A tool that does not start is not the file's fault. */
function isFaultOfFile(error: unknown): boolean {
  return error instanceof MediaToolError && (error.kind !== "failed" || error.detail !== undefined);
}
