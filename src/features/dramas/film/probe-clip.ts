import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import { FilmError } from "./film-error.ts";
import { blameShot, type ShotContext } from "./shot-input.ts";

/** A clip as displayed: rotated upright, with square pixels. */
export type ProbedClip = {
  width: number;
  height: number;
  /** Measured from packets, because metadata may be wrong. */
  seconds: number;
  /** Whether it has an audio track that is not empty. */
  hasSound: boolean;
  /** The color matrix, as ffmpeg's scaler names it. */
  colourMatrix: string;
};

type ProbedStream = {
  index: number;
  codec_type?: string;
  width?: number;
  height?: number;
  sample_aspect_ratio?: string;
  color_space?: string;
  disposition?: { attached_pic?: number };
  tags?: { rotate?: string };
  side_data_list?: readonly { rotation?: number | string }[];
};

type ProbedPacket = { stream_index: number; pts_time?: string; duration_time?: string };

type Probe = { streams?: readonly ProbedStream[]; packets?: readonly ProbedPacket[] };

const clipSecondsMax = 600;
const probeMsMax = 60_000;
const outputBytesMax = 64 * 1024 * 1024;
const sideMax = 8192;
/** For a single frame without a duration. */
const frameSecondsMin = 1 / 24;
/** Shorter audio counts as silence. */
const soundSecondsMin = 0.05;
/** From this size on, untagged video is treated as BT.709, below as BT.601. */
const largeSideMin = 720;

export async function probeClip(clipInput: readonly string[], context: ShotContext): Promise<ProbedClip> {
  const { streams = [], packets = [] } = await runProbe(clipInput, context);
  const film = streams.find((stream) => stream.codec_type === "video" && stream.disposition?.attached_pic !== 1);
  const { width = 0, height = 0 } = film ?? {};
  if (film === undefined || Math.min(width, height) < 1 || Math.max(width, height) > sideMax) {
    throw new FilmError("A clip has no readable video frame.", { shot: context.number });
  }
  const shown = turnUpright(film, { width: Math.max(1, Math.round(width * readPixelRatio(film))), height });
  const sound = streams.find((stream) => stream.codec_type === "audio");
  return {
    ...shown,
    seconds: Math.max(frameSecondsMin, measurePackets(packets, film)),
    hasSound: sound !== undefined && measurePackets(packets, sound) >= soundSecondsMin,
    colourMatrix: nameMatrix(film, shown),
  };
}

async function runProbe(clipInput: readonly string[], context: ShotContext): Promise<Probe> {
  try {
    const { stdout } = await runMediaTool({
      tool: "ffprobe",
      source: "strangers",
      args: [
        ...clipInput.slice(0, -2),
        ...["-of", "json", "-read_intervals", `%+${clipSecondsMax}`, "-show_streams"],
        ...["-show_entries", "packet=stream_index,pts_time,duration_time", clipInput.at(-1) ?? ""],
      ],
      signal: context.signal,
      timeoutMs: probeMsMax,
      stdoutBytesMax: outputBytesMax,
    });
    return JSON.parse(stdout.toString("utf8")) as Probe;
  } catch (error) {
    throw blameShot(error, context);
  }
}

function readPixelRatio({ sample_aspect_ratio: ratio = "1:1" }: ProbedStream): number {
  const [across = 0, down = 0] = ratio.split(":").map(Number);
  return across > 0 && down > 0 && across / down < 10 && down / across < 10 ? across / down : 1;
}

/** Phones store a rotation instead of rotating; ffmpeg applies it when decoding. */
function turnUpright(
  { tags, side_data_list: sideData = [] }: ProbedStream,
  { width, height }: { width: number; height: number },
): { width: number; height: number } {
  const turned = sideData.find(({ rotation }) => rotation !== undefined)?.rotation ?? tags?.rotate ?? 0;
  return Math.abs(Math.round(Number(turned) / 90)) % 2 === 1 ? { width: height, height: width } : { width, height };
}

function measurePackets(packets: readonly ProbedPacket[], { index }: ProbedStream): number {
  let [start, end] = [Number.POSITIVE_INFINITY, 0];
  for (const { stream_index: stream, pts_time: moment, duration_time: length = "0" } of packets) {
    if (stream !== index || moment === undefined) continue;
    start = Math.min(start, Number(moment));
    end = Math.max(end, Number(moment) + (Number(length) || 0));
  }
  return Number.isFinite(start) ? end - start : 0;
}

function nameMatrix(
  { color_space: space = "unknown" }: ProbedStream,
  { width, height }: { width: number; height: number },
): string {
  if (/^(gbr|rgb)/.test(space)) return "auto";
  if (space === "bt709" || space === "smpte240m") return space;
  if (space.startsWith("bt2020")) return "bt2020";
  if (space === "smpte170m" || space === "bt470bg" || space === "fcc") return "bt601";
  return Math.min(width, height) >= largeSideMin ? "bt709" : "bt601";
}
