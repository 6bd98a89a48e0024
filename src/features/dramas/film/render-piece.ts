import { join } from "node:path";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import type { MediaToolCall } from "../../../platform/media/start-media-tool.ts";
import { type PictureSize, placePicture } from "./choose-frame.ts";
import type { CaptionStrip, DrawnSheet } from "./drawing-order.ts";
import type { MeasuredShot } from "./measure-shot.ts";
import { filmFadeSeconds, framesPerSecond, type PlannedShot } from "./plan-timeline.ts";
import { blameShot, type ShotContext } from "./shot-input.ts";
import { pieceFormat, scaleTo } from "./video-format.ts";

export type ShotPiece = {
  shot: MeasuredShot;
  planned: PlannedShot;
  frame: PictureSize;
  strip: CaptionStrip;
  sheets: readonly DrawnSheet[];
  /** Where the sheets are. */
  drawnDir: string;
  /** Whether the film begins or ends with it. */
  fades: { in: boolean; out: boolean };
  /** Where it is written. */
  path: string;
};

const titleFadeSeconds = 0.4;
const renderMsMin = 60_000;
/** A slow core that does other things too: two frames a second of a large film. */
const renderMsPerFrame = 500;

/** One shot as a film without sound: in the frame of the film, as long as planned, with its captions. */
export async function renderShot(piece: ShotPiece, context: ShotContext): Promise<void> {
  const { shot, planned, sheets, drawnDir, path } = piece;
  const clipSeconds = planned.frameCount / framesPerSecond / planned.slowdown + 1;
  try {
    await render({
      source: "strangers",
      args: [
        ...["-threads", "2", "-t", clipSeconds.toFixed(3), ...shot.clipInput],
        ...sheets.flatMap(({ name }) => describeStill(join(drawnDir, name))),
        ...["-filter_complex", describeGraph(piece), "-map", "[film]", "-frames:v", String(planned.frameCount)],
        ...[...pieceFormat, `file:${path}`],
      ],
      frameCount: planned.frameCount,
      signal: context.signal,
    });
  } catch (error) {
    throw blameShot(error, context);
  }
}

/** The title card, which comes and goes softly. */
export async function renderTitle(
  {
    picturePath,
    frame,
    frameCount,
    path,
  }: { picturePath: string; frame: PictureSize; frameCount: number; path: string },
  signal: AbortSignal,
): Promise<void> {
  const fades = [describeFade("in", titleFadeSeconds), describeFade("out", titleFadeSeconds, frameCount)];
  const graph = `[0:v:0]${scaleTo(frame)},${repeatStill},${fades.join(",")}[film]`;
  const output = ["-filter_complex", graph, "-map", "[film]", "-frames:v", String(frameCount)];
  const args = [...describeStill(picturePath), ...output, ...pieceFormat, `file:${path}`];
  await render({ source: "ours", args, frameCount, signal });
}

type RenderCall = Pick<MediaToolCall, "source" | "args" | "signal"> & { frameCount: number };

async function render({ frameCount, ...call }: RenderCall): Promise<void> {
  const timeoutMs = renderMsMin + frameCount * renderMsPerFrame;
  await runMediaTool({ ...call, tool: "ffmpeg", timeoutMs, stdoutBytesMax: 1000 });
}

/** An image of our own, shown for as long as it is needed: read once, then repeated without copying it. */
function describeStill(path: string): string[] {
  return ["-framerate", String(framesPerSecond), "-f", "png_pipe", "-i", `file:${path}`];
}

const repeatStill = "loop=loop=-1:size=1,setpts=N";

/**
 * A black film of the exact length and rate, the clip over it, which stays with its last frame when it ends, and the
 * captions over that.
 */
function describeGraph({ shot, planned, frame, strip, sheets, fades }: ShotPiece): string {
  const { width, height } = frame;
  const retime = `settb=1/90000,setpts=(PTS-STARTPTS)*${planned.slowdown.toFixed(6)}`;
  const steps = [
    `color=c=black:s=${width}x${height}:r=${framesPerSecond},format=yuv420p[base]`,
    `[0:V:0]${retime}[clip]`,
    ...describePlacement(shot, frame),
    `[base][placed]overlay=eof_action=repeat:format=yuv420[shot0]`,
    ...sheets.flatMap((sheet, index) => describeSheet(sheet, strip, index)),
  ];
  const fadeIn = fades.in ? [describeFade("in", filmFadeSeconds)] : [];
  const fadeOut = fades.out ? [describeFade("out", filmFadeSeconds, planned.frameCount)] : [];
  return [...steps, `[shot${sheets.length}]${[...fadeIn, ...fadeOut, "setsar=1"].join(",")}[film]`].join(";");
}

/** The last of `frameCount` frames is quite dark. */
function describeFade(direction: "in" | "out", seconds: number, frameCount = 0): string {
  const start = direction === "in" ? 0 : Math.max(0, (frameCount - 1) / framesPerSecond - seconds);
  return `fade=t=${direction}:st=${start.toFixed(4)}:d=${seconds}`;
}

function describePlacement({ clip }: MeasuredShot, frame: PictureSize): string[] {
  const placement = placePicture(clip, frame);
  const { width, height } = frame;
  if (placement.kind === "cover")
    return [`[clip]${scaleTo(placement, clip.colourMatrix)},crop=${width}:${height}[placed]`];
  // Blurring a small copy is cheap, and what is enlarged afterwards is soft anyway.
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

/** A small copy of the clip that covers a small copy of the frame. */
function placeBehind(clip: PictureSize, frame: PictureSize): PictureSize & { cropWidth: number; cropHeight: number } {
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

/** The captions stand below each other on a sheet; each frame is shown the row that is due, the first being empty. */
function describeSheet({ rows }: DrawnSheet, { left, top, width, height }: CaptionStrip, index: number): string[] {
  const due = rows.map(({ startFrame, endFrame }, row) => `${row + 1}*gte(n,${startFrame})*lt(n,${endFrame})`);
  const crop = `crop=${width}:${height}:0:'${height}*(${["0", ...due].join("+")})'`;
  return [
    `[${index + 1}:v:0]format=yuva420p,${repeatStill},${crop}[captions${index}]`,
    `[shot${index}][captions${index}]overlay=${left}:${top}:format=yuv420[shot${index + 1}]`,
  ];
}
