import { withFileWindow } from "./file-window.ts";
import { type InspectedMedia, type Inspection, refuse } from "./inspection.ts";
import { measureWav } from "./measure-wav.ts";
import { MediaToolError } from "./media-tool-error.ts";
import type { MediaType } from "./media-type.ts";
import { runMediaTool } from "./run-media-tool.ts";
import { decoders, describeUntrusted, describeUntrustedInput } from "./untrusted-input.ts";

type Recording = Extract<MediaType, { reader: "ffprobe" }>;

type Probe = {
  streams: readonly ProbedStream[];
  /** From the file's metadata; `null` if absent. */
  durationMs: number | null;
};

type ProbedStream = { type: string; codec: string; width: number; height: number; isCover: boolean };

const probeMsMax = 20_000;
const readMsMax = 60_000;
const outputBytesMax = 1024 * 1024;
const streamsMax = 8;
const sideMax = 8192;
const durationMsMax = 4 * 60 * 60 * 1000;
const sampleSeconds = "5";
const toleranceMs = 500;
const toleranceShare = 0.03;

/** Accepted codecs; `untrusted-input.ts` has the decoders. */
const codecs = {
  video: new Set(["h264", "hevc", "vp8", "vp9", "av1", "mpeg4", "prores", "mjpeg"]),
  audio: new Set(["aac", "mp3", "opus", "vorbis", "flac", "alac"]),
};

const unsupportedCodec = "has an unsupported codec; use H.264, VP9, AAC or MP3";

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
 * Reads the header of a plain WAV file. Probes any other recording with ffprobe, then reads all packets and decodes the
 * first seconds with ffmpeg.
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
    const probe = await probeRecording(path, type, signal);
    const media = describeRecording(probe, type);
    if (typeof media === "string") return refuse(media);
    const readMs = await readRecording(path, type, signal);
    if (await isCutShort(path, type, { readMs, declaredMs: probe.durationMs })) return refuse("is incomplete");
    if (readMs === 0) return refuse("has no audio or video");
    return { kind: "accepted", media: { ...media, durationMs: chooseDuration(readMs, probe.durationMs) } };
  } catch (error) {
    if (!isFaultOfFile(error)) throw error;
    return refuse(hasUnsupportedCodec(error) ? unsupportedCodec : "is damaged or incomplete", error);
  }
}

async function probeRecording(path: string, { demuxer }: Recording, signal: AbortSignal): Promise<Probe> {
  const { stdout } = await runMediaTool({
    tool: "ffprobe",
    source: "strangers",
    args: [
      ...[...describeUntrusted(demuxer), "-print_format", "json", "-show_entries"],
      "format=duration:stream=codec_type,codec_name,width,height:stream_disposition=attached_pic",
      `file:${path}`,
    ],
    signal,
    timeoutMs: probeMsMax,
    stdoutBytesMax: outputBytesMax,
  });
  const { streams = [], format } = JSON.parse(stdout.toString("utf8")) as {
    streams?: Record<string, unknown>[];
    format?: { duration?: string };
  };
  const durationMs = Math.round(Number(format?.duration) * 1000);
  return {
    durationMs: Number.isFinite(durationMs) ? durationMs : null,
    streams: streams.map((stream) => ({
      type: String(stream.codec_type),
      codec: String(stream.codec_name),
      width: Number(stream.width ?? 0),
      height: Number(stream.height ?? 0),
      isCover: (stream.disposition as { attached_pic?: number } | undefined)?.attached_pic === 1,
    })),
  };
}

/** Returns the media, or the reason for rejection. */
function describeRecording({ streams, durationMs }: Probe, type: Recording): InspectedMedia | string {
  const videos = streams.filter((stream) => stream.type === "video" && !stream.isCover);
  const sounds = streams.filter((stream) => stream.type === "audio");
  const [video] = videos;
  if (streams.length > streamsMax) return `has more than ${streamsMax} streams`;
  if (video === undefined && sounds.length === 0) return "has no audio or video";
  const unsupported =
    videos.find(({ codec }) => !codecs.video.has(codec)) ?? sounds.find(({ codec }) => !isSound(codec));
  if (unsupported !== undefined) return unsupportedCodec;
  if (videos.some(({ width, height }) => Math.max(width, height) > sideMax || Math.min(width, height) < 1)) {
    return `must have 1 to ${sideMax} pixels on a side`;
  }
  if (durationMs !== null && durationMs > durationMsMax) return `is longer than ${durationMsMax / 3_600_000} hours`;
  const types: { audio: string; video?: string } = contentTypes[type.name];
  const contentType = video === undefined ? types.audio : types.video;
  if (contentType === undefined) return `is a video in a container for audio`;
  return {
    kind: video === undefined ? "audio" : "video",
    contentType,
    width: video?.width ?? null,
    height: video?.height ?? null,
    durationMs,
  };
}

function isSound(codec: string): boolean {
  return codecs.audio.has(codec) || decoders.split(",").some((name) => name.startsWith("pcm_") && name === codec);
}

/** Reads all packets and decodes the first seconds. Returns the total duration of the packets. */
async function readRecording(path: string, { name, demuxer }: Recording, signal: AbortSignal): Promise<number> {
  const streams = ["-map", "0:V?", "-map", "0:a?"];
  let readMs = 0;
  await runMediaTool({
    tool: "ffmpeg",
    source: "strangers",
    args: [
      // A WAV written to a pipe ends like a damaged one; its header shows whether data is missing.
      ...(name === "wav" ? [] : ["-xerror"]),
      ...["-threads", "1", ...describeUntrustedInput(path, demuxer)],
      ...[...streams, "-c", "copy", "-f", "null", "-"],
      ...[...streams, "-t", sampleSeconds, "-f", "null", "-"],
      ...["-progress", "pipe:1"],
    ],
    signal,
    timeoutMs: readMsMax,
    stdoutBytesMax: outputBytesMax,
    onLine(line) {
      // Despite its name, the unit is microseconds.
      const microseconds = /^out_time_ms=(\d+)$/.exec(line)?.[1];
      if (microseconds !== undefined) readMs = Math.round(Number(microseconds) / 1000);
    },
  });
  return readMs;
}

/** Packets may exceed the declared duration a little. */
function chooseDuration(readMs: number, declaredMs: number | null): number {
  return declaredMs !== null && Math.abs(declaredMs - readMs) <= toleranceMs ? Math.min(declaredMs, readMs) : readMs;
}

/** Whether the packets end well before the declared duration. */
async function isCutShort(
  path: string,
  { name }: Recording,
  { readMs, declaredMs }: { readMs: number; declaredMs: number | null },
): Promise<boolean> {
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

function hasUnsupportedCodec(error: unknown): boolean {
  return error instanceof MediaToolError && /not on whitelist/i.test(String(error.detail?.stderr));
}

/** A tool that does not start is not the file's fault. */
function isFaultOfFile(error: unknown): boolean {
  return error instanceof MediaToolError && (error.kind !== "failed" || error.detail !== undefined);
}
