import { withFileWindow } from "./file-window.ts";
import { describeForeign, describeForeignInput } from "./foreign-input.ts";
import { type InspectedMedia, type Inspection, refuse } from "./inspection.ts";
import { decoders } from "./media-decoders.ts";
import { MediaToolError } from "./media-tool-error.ts";
import type { MediaType } from "./media-type.ts";
import { runMediaTool } from "./run-media-tool.ts";

type Recording = Extract<MediaType, { reader: "ffprobe" }>;

type Probe = {
  streams: readonly ProbedStream[];
  /** What the file says of itself; `null` where it says nothing. */
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

/** What is accepted; `media-decoders.ts` has who may read it. */
const codecs = {
  video: new Set(["h264", "hevc", "vp8", "vp9", "av1", "mpeg4", "prores", "mjpeg"]),
  audio: new Set(["aac", "mp3", "opus", "vorbis", "flac", "alac"]),
};

const strangeCodec = "is coded in a way that is not accepted; use H.264, VP9, AAC, MP3 or the like";

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

/** Asks ffprobe what is in a recording, then lets ffmpeg read all of it and decode its beginning. */
export async function inspectRecording(path: string, type: Recording, signal: AbortSignal): Promise<Inspection> {
  try {
    const probe = await probeRecording(path, type, signal);
    const media = describeRecording(probe, type);
    if (typeof media === "string") return refuse(media);
    const readMs = await readRecording(path, type, signal);
    if (await isCutShort(path, type, { readMs, saidMs: probe.durationMs })) return refuse("is not whole");
    if (readMs === 0) return refuse("has nothing to see or hear in it");
    return { kind: "accepted", media: { ...media, durationMs: chooseDuration(readMs, probe.durationMs) } };
  } catch (error) {
    if (!isFaultOfFile(error)) throw error;
    return refuse(hasStrangeCodec(error) ? strangeCodec : "is damaged or not whole", error);
  }
}

async function probeRecording(path: string, { demuxer }: Recording, signal: AbortSignal): Promise<Probe> {
  const { stdout } = await runMediaTool({
    tool: "ffprobe",
    source: "strangers",
    args: [
      ...[...describeForeign(demuxer), "-print_format", "json", "-show_entries"],
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

/** What it is, or the reason why it is not accepted. */
function describeRecording({ streams, durationMs }: Probe, type: Recording): InspectedMedia | string {
  const films = streams.filter((stream) => stream.type === "video" && !stream.isCover);
  const sounds = streams.filter((stream) => stream.type === "audio");
  const [film] = films;
  if (streams.length > streamsMax) return `has more than ${streamsMax} streams`;
  if (film === undefined && sounds.length === 0) return "has nothing to see or hear in it";
  const strange = films.find(({ codec }) => !codecs.video.has(codec)) ?? sounds.find(({ codec }) => !isSound(codec));
  if (strange !== undefined) return strangeCodec;
  if (films.some(({ width, height }) => Math.max(width, height) > sideMax || Math.min(width, height) < 1)) {
    return `must have 1 to ${sideMax} pixels on a side`;
  }
  if (durationMs !== null && durationMs > durationMsMax) return `is longer than ${durationMsMax / 3_600_000} hours`;
  const types: { audio: string; video?: string } = contentTypes[type.name];
  const contentType = film === undefined ? types.audio : types.video;
  if (contentType === undefined) return `is a video in a container for audio`;
  return {
    kind: film === undefined ? "audio" : "video",
    contentType,
    width: film?.width ?? null,
    height: film?.height ?? null,
    durationMs,
  };
}

function isSound(codec: string): boolean {
  return codecs.audio.has(codec) || decoders.split(",").some((name) => name.startsWith("pcm_") && name === codec);
}

/** Copies every packet to nowhere and decodes the first seconds; answers how long the packets last together. */
async function readRecording(path: string, { name, demuxer }: Recording, signal: AbortSignal): Promise<number> {
  const streams = ["-map", "0:V?", "-map", "0:a?"];
  let readMs = 0;
  await runMediaTool({
    tool: "ffmpeg",
    source: "strangers",
    args: [
      // The end of a WAV whose writer did not know its size looks like damage; its header tells if something is missing.
      ...(name === "wav" ? [] : ["-xerror"]),
      ...["-threads", "1", ...describeForeignInput(path, demuxer)],
      ...[...streams, "-c", "copy", "-f", "null", "-"],
      ...[...streams, "-t", sampleSeconds, "-f", "null", "-"],
      ...["-progress", "pipe:1"],
    ],
    signal,
    timeoutMs: readMsMax,
    stdoutBytesMax: outputBytesMax,
    onLine(line) {
      // Its name says milliseconds, but it has always been microseconds.
      const microseconds = /^out_time_ms=(\d+)$/.exec(line)?.[1];
      if (microseconds !== undefined) readMs = Math.round(Number(microseconds) / 1000);
    },
  });
  return readMs;
}

/** Packets may reach a little beyond the end that the file names. */
function chooseDuration(readMs: number, saidMs: number | null): number {
  return saidMs !== null && Math.abs(saidMs - readMs) <= toleranceMs ? Math.min(saidMs, readMs) : readMs;
}

/** Whether it says that it is longer than it is. Packets may end a little early; a file that was cut ends much earlier. */
async function isCutShort(
  path: string,
  { name }: Recording,
  { readMs, saidMs }: { readMs: number; saidMs: number | null },
): Promise<boolean> {
  if (saidMs === null || readMs >= saidMs - Math.max(toleranceMs, saidMs * toleranceShare)) return false;
  // Without a header that counts its frames, the length of an MP3 is a guess from the first of them.
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

/** The tools stop at a codec that they may not use. */
function hasStrangeCodec(error: unknown): boolean {
  return error instanceof MediaToolError && /not on whitelist/i.test(String(error.detail?.stderr));
}

/** A tool that does not run at all is our trouble. */
function isFaultOfFile(error: unknown): boolean {
  return error instanceof MediaToolError && (error.kind !== "failed" || error.detail !== undefined);
}
