import { stat } from "node:fs/promises";
import { join } from "node:path";
import { plainOutput } from "../../../platform/media/plain-output.ts";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import { type FrameSize, placeImage } from "./choose-frame.ts";
import type { CaptionStrip, DrawnSheet } from "./drawing-order.ts";
import { FilmError } from "./film-error.ts";
import { type DecodedSound, findSound, type MeasuredShot } from "./measure-shot.ts";
import { filmFadeSeconds, framesPerSecond, type PlannedShot } from "./plan-timeline.ts";
import { blameShot, type ShotContext } from "./shot-input.ts";
import { soundFormat } from "./sound-format.ts";

export type ShotPiece = {
  shot: MeasuredShot;
  planned: PlannedShot;
  frame: FrameSize;
  strip: CaptionStrip;
  sheets: readonly DrawnSheet[];
  /** The folder of the caption sheets. */
  drawnDir: string;
  /** Whether the film starts or ends with this shot. */
  fades: { in: boolean; out: boolean };
  /** The working directory. */
  folder: string;
  path: string;
  /** The title card, rendered along with the first shot. */
  title: TitlePiece | null;
};

type TitlePiece = { imagePath: string; frameCount: number; path: string };

/** The exact format of all pieces, so that they can be concatenated without re-encoding. */
const pieceFormat = [
  ...["-an", "-r", String(framesPerSecond), ...plainOutput],
  ...["-c:v", "libx264", "-preset", "veryfast", "-crf", "21", "-pix_fmt", "yuv420p", "-g", "96", "-threads", "2"],
  ...["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"],
  ...["-f", "mp4"],
];

/** A scale filter that converts any input to these colors. */
function scaleTo({ width, height }: { width: number; height: number }, colourMatrix = "auto"): string {
  const colours = `in_color_matrix=${colourMatrix}:out_color_matrix=bt709:out_range=tv`;
  return `scale=${width}:${height}:${colours},setsar=1,format=yuv420p`;
}

const titleFadeSeconds = 0.4;
const renderMsMin = 60_000;
/** For a slow, busy core: two frames a second of a large film. */
const renderMsPerFrame = 500;
const sampleSide = 16;

/**
 * Renders a shot without sound: in the film's frame, with the planned length and captions. Also decodes the clip's own
 * sound and returns it; `null` if there is none.
 */
export async function renderShot(piece: ShotPiece, context: ShotContext): Promise<DecodedSound | null> {
  const { shot, planned, sheets, drawnDir, title, folder, path } = piece;
  const soundPath = join(folder, `clip-${context.number}.pcm`);
  const samplePath = join(folder, `first-${context.number}.raw`);
  const clipSeconds = planned.frameCount / framesPerSecond + 1;
  try {
    await runMediaTool({
      tool: "ffmpeg",
      source: "strangers",
      args: [
        ...["-threads", "2", "-t", clipSeconds.toFixed(3), ...shot.clipInput],
        ...sheets.flatMap(({ name }) => describeStill(join(drawnDir, name))),
        ...(title === null ? [] : describeStill(title.imagePath)),
        ...["-filter_complex", describeGraph(piece)],
        ...["-map", "[film]", "-frames:v", String(planned.frameCount), ...pieceFormat, `file:${path}`],
        ...(title === null
          ? []
          : ["-map", "[title]", "-frames:v", String(title.frameCount), ...pieceFormat, `file:${title.path}`]),
        // One decoded frame is the proof that the clip can be shown, whatever its metadata claims.
        ...["-map", "0:V:0", "-frames:v", "1", "-s", `${sampleSide}x${sampleSide}`, "-pix_fmt", "gray"],
        ...["-f", "rawvideo", `file:${samplePath}`],
        ...(shot.clip.hasSound ? ["-map", "0:a:0", ...soundFormat, `file:${soundPath}`] : []),
      ],
      timeoutMs: renderMsMin + (planned.frameCount + (title?.frameCount ?? 0)) * renderMsPerFrame,
      stdoutBytesMax: 1000,
      signal: context.signal,
    });
  } catch (error) {
    throw blameShot(error, context);
  }
  if ((await stat(samplePath)).size < sampleSide ** 2) {
    throw new FilmError("A clip has no readable video frame.", { shot: context.number });
  }
  return shot.clip.hasSound ? await findSound(soundPath) : null;
}

/** A still image of our own, decoded once and repeated without copying. */
function describeStill(path: string): string[] {
  return ["-framerate", String(framesPerSecond), "-f", "png_pipe", "-i", `file:${path}`];
}

const repeatStill = "loop=loop=-1:size=1,setpts=N";

/**
 * Overlays the clip on a black base of the exact length and rate, holding its last frame when it ends, and the captions
 * on top.
 */
function describeGraph({ shot, planned, frame, strip, sheets, fades, title }: ShotPiece): string {
  const { width, height } = frame;
  const retime = `settb=1/90000,setpts=(PTS-STARTPTS)*${planned.slowdown.toFixed(6)}`;
  const steps = [
    `color=c=black:s=${width}x${height}:r=${framesPerSecond},format=yuv420p[base]`,
    `[0:V:0]${retime}[clip]`,
    ...describePlacement(shot, frame),
    `[base][placed]overlay=eof_action=repeat:format=yuv420[shot0]`,
    ...sheets.flatMap((sheet, index) => describeSheet(sheet, strip, index)),
    ...(title === null ? [] : [describeTitle(title, frame, sheets.length + 1)]),
  ];
  const fadeIn = fades.in ? [describeFade("in", filmFadeSeconds)] : [];
  const fadeOut = fades.out ? [describeFade("out", filmFadeSeconds, planned.frameCount)] : [];
  return [...steps, `[shot${sheets.length}]${[...fadeIn, ...fadeOut, "setsar=1"].join(",")}[film]`].join(";");
}

function describeTitle({ frameCount }: TitlePiece, frame: FrameSize, input: number): string {
  const fades = [describeFade("in", titleFadeSeconds), describeFade("out", titleFadeSeconds, frameCount)];
  return `[${input}:v:0]${scaleTo(frame)},${repeatStill},${fades.join(",")}[title]`;
}

/** A fade out ends in black at the last of `frameCount` frames. */
function describeFade(direction: "in" | "out", seconds: number, frameCount = 0): string {
  const start = direction === "in" ? 0 : Math.max(0, (frameCount - 1) / framesPerSecond - seconds);
  return `fade=t=${direction}:st=${start.toFixed(4)}:d=${seconds}`;
}

function describePlacement({ clip }: MeasuredShot, frame: FrameSize): string[] {
  const placement = placeImage(clip, frame);
  const { width, height } = frame;
  if (placement.kind === "cover")
    return [`[clip]${scaleTo(placement, clip.colourMatrix)},crop=${width}:${height}[placed]`];
  // Blurring a small copy is cheap, and upscaling softens it further.
  const behind = placeBehind(clip, frame);
  const blur = `boxblur=luma_radius=2:luma_power=2:chroma_radius=1:chroma_power=2`;
  const darken = "lutyuv=y='16+(val-16)*0.45':u='128+(val-128)*0.7':v='128+(val-128)*0.7'";
  return [
    "[clip]split[sharp][soft]",
    `[soft]${scaleTo(behind, clip.colourMatrix)},crop=${behind.cropWidth}:${behind.cropHeight},${blur},${darken},scale=${width}:${height},setsar=1[behind]`,
    `[sharp]${scaleTo(placement, clip.colourMatrix)}[whole]`,
    "[behind][whole]overlay=(W-w)/2:(H-h)/2:format=yuv420[placed]",
  ];
}

const behindShare = 1 / 12;

/** A scaled-down clip that covers a scaled-down frame. */
function placeBehind(clip: FrameSize, frame: FrameSize): FrameSize & { cropWidth: number; cropHeight: number } {
  const even = (side: number): number => Math.max(16, 2 * Math.round(side / 2));
  const [cropWidth, cropHeight] = [even(frame.width * behindShare), even(frame.height * behindShare)];
  const scale = Math.max(cropWidth / clip.width, cropHeight / clip.height);
  return {
    cropWidth,
    cropHeight,
    width: Math.max(cropWidth, even(clip.width * scale)),
    height: Math.max(cropHeight, even(clip.height * scale)),
  };
}

/** Crops the current row from the sheet for each frame; the first row is empty. */
function describeSheet({ rows }: DrawnSheet, { left, top, width, height }: CaptionStrip, index: number): string[] {
  const due = rows.map(({ startFrame, endFrame }, row) => `${row + 1}*gte(n,${startFrame})*lt(n,${endFrame})`);
  const crop = `crop=${width}:${height}:0:'${height}*(${["0", ...due].join("+")})'`;
  return [
    `[${index + 1}:v:0]format=yuva420p,${repeatStill},${crop}[captions${index}]`,
    `[shot${index}][captions${index}]overlay=${left}:${top}:format=yuv420[shot${index + 1}]`,
  ];
}
