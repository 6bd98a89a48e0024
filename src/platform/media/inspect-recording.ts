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
/** Of the longest recording, at 100 packets a second. */
const listBytesMax = 128 * 1024 * 1024;
const streamsMax = 8;
/** Enough to see that there are too many. */
const streamsListedMax = streamsMax + 1;
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
  const list = createPacketList();
  const { log } = await runMediaTool({
    tool: "ffmpeg",
    source: "strangers",
    args: [
      // The log contains the declared duration.
      ...["-loglevel", "info", "-nostats"],
      // A WAV written to a pipe ends like a damaged one; its header shows whether data is missing.
      ...(name === "wav" ? [] : ["-xerror"]),
      ...[...input, "-t", sampleSeconds, ...input],
      ...[...streamsOf(0), "-c", "copy", "-f", "framecrc", "pipe:1"],
      ...[...streamsOf(1), "-f", "null", "-"],
    ],
    signal,
    timeoutMs: readMsMax,
    stdoutBytesMax: listBytesMax,
    onLine: list.readLine,
  });
  return { ...list.read(), declaredMs: findDeclaredMs(log) };
}

const describing = /^#(tb|media_type|codec_id|dimensions) (\d+): (.+)$/;

/**
 * Reads ffmpeg's list of packets: the head describes each stream, then each line has a packet's stream, decoding time,
 * presentation time and duration in the stream's unit. ffmpeg's own progress differs between versions.
 */
function createPacketList() {
  const streams: (ReadStream & { unitMs: number })[] = [];
  let readMs = 0;

  function describe(name: string, number: number, value: string): void {
    if (number > streams.length || number >= streamsListedMax) return;
    streams[number] ??= { type: "", codec: "", width: 0, height: 0, unitMs: 0 };
    const stream = streams[number];
    const [first = 0, second = 0] = value.split(/[x/]/).map(Number);
    if (name === "tb") stream.unitMs = (1000 * first) / second;
    else if (name === "media_type") stream.type = value;
    else if (name === "codec_id") stream.codec = value;
    else [stream.width, stream.height] = [first, second];
  }

  return {
    readLine(line: string): void {
      if (line.startsWith("#")) {
        const [, name = "", number, value = ""] = describing.exec(line) ?? [];
        describe(name, Number(number), value);
        return;
      }
      const [number, , presentedAt, duration] = line.split(",", 4).map(Number);
      const endMs = ((presentedAt ?? 0) + (duration ?? 0)) * (streams[number ?? 0]?.unitMs ?? 0);
      if (endMs > readMs) readMs = endMs;
    },
    read: () => ({ streams, readMs: Math.round(readMs) }),
  };
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
