import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { invariant } from "../../../lib/invariant.ts";
import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import { chooseFrame, type FrameSize } from "./choose-frame.ts";
import type { DrawingAnswer } from "./drawing-order.ts";
import { labelEpisode } from "./episode-label.ts";
import { FilmError } from "./film-error.ts";
import type { FilmOrder, MadeFilm } from "./film-order.ts";
import { joinPieces, type Piece } from "./join-pieces.ts";
import { type MeasuredShot, measureShots } from "./measure-shot.ts";
import { type HeardShot, mixSound } from "./mix-sound.ts";
import { framesPerSecond, planTimeline, type TimedShot, type Timeline } from "./plan-timeline.ts";
import { renderShot } from "./render-piece.ts";
import { runDrawing } from "./run-drawing.ts";
import { blameShot } from "./shot-input.ts";
import { type SubtitleCue, writeSubtitles } from "./write-subtitles.ts";

export type AssemblyWatch = {
  signal: AbortSignal;
  /** Called with the progress from 0 to 100; never decreases. */
  onProgress(percent: number): void;
};

/** Everything that is decided before rendering. */
type FilmPlan = { shots: readonly MeasuredShot[]; frame: FrameSize; timeline: Timeline; drawing: DrawingAnswer };

const filmSecondsMax = 2 * 60 * 60;
const frameMsMax = 60_000;
/** The percentage at the end of each phase. */
const progress = { measured: 15, drawn: 22, rendered: 92 };

/**
 * Assembles a film from its clips, voices and texts, running one tool at a time. Writes everything to the order's
 * folder.
 * Throws a `FilmError` that names the shot at fault, or the signal's reason.
 */
export async function assembleFilm(order: FilmOrder, watch: AssemblyWatch): Promise<MadeFilm> {
  const { signal } = watch;
  signal.throwIfAborted();
  invariant(order.shots.length > 0, "a film has a shot");
  await mkdir(order.folder, { recursive: true, mode: 0o700 });
  try {
    const plan = await planFilm(order, watch);
    const { timeline, drawing } = plan;
    const filmPath = join(order.folder, "film.mp4");
    const subtitlesPath = join(order.folder, "film.vtt");
    const soundPath = join(order.folder, "film.pcm");
    const cues = listCues(plan);
    await writeFile(subtitlesPath, writeSubtitles(cues));
    const { pieces, shots } = await renderPieces(order, plan, watch);
    await mixSound(soundPath, { shots, timeline, signal });
    const seconds = timeline.frameCount / framesPerSecond;
    const trackPath = order.subtitles === "track" && cues.length > 0 ? subtitlesPath : null;
    await joinPieces({ folder: order.folder, pieces, soundPath, trackPath, seconds, path: filmPath, signal });
    watch.onProgress(100);
    return {
      filmPath,
      subtitlesPath,
      posterPath: join(nameDrawnDir(order), drawing.posterName),
      ...plan.frame,
      durationMs: Math.round(seconds * 1000),
      undrawable: drawing.undrawable,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FilmError) throw error;
    throw new FilmError("The video could not be assembled.", { cause: error });
  }
}

/** The only folder the drawing process may write to. */
function nameDrawnDir({ folder }: FilmOrder): string {
  return join(folder, "drawn");
}

async function planFilm(order: FilmOrder, { signal, onProgress }: AssemblyWatch): Promise<FilmPlan> {
  const shots = await measureShots(order.shots, {
    folder: order.folder,
    signal,
    onShot: (number) => onProgress(Math.floor((progress.measured * (number + 1)) / order.shots.length)),
  });
  const frame = chooseFrame(
    order.aspectRatio,
    shots.map(({ clip }) => clip),
  );
  const timeline = planTimeline(shots.map(describeTiming));
  if (timeline.frameCount > filmSecondsMax * framesPerSecond) {
    throw new FilmError(`The film would be longer than ${filmSecondsMax / 3600} hours.`);
  }
  const drawing = await runDrawing(
    {
      frame,
      title: order.title,
      episodeLabel: labelEpisode(order.episode, order.language),
      imagePath: order.imagePath ?? (await extractFirstFrame(order, shots, signal)),
      folder: nameDrawnDir(order),
      hasCaptions: order.subtitles === "burned",
      shots: shots.map(({ lines }, number) => ({
        lines: lines.map(({ speaker, text }, index) => ({ speaker, text, ...findSpan(timeline, number, index) })),
      })),
    },
    signal,
  );
  onProgress(progress.drawn);
  return { shots, frame, timeline, drawing };
}

function describeTiming({ clip, lines, isVoiced, seconds }: MeasuredShot): TimedShot {
  const timed = lines.map(({ text, sound }) => ({ text, audioSeconds: sound?.seconds ?? null }));
  return { clipSeconds: clip.seconds, seconds, isVoiced, lines: timed };
}

function findSpan({ shots }: Timeline, number: number, index: number): { startFrame: number; endFrame: number } {
  const line = shots[number]?.lines[index];
  invariant(line !== undefined, "every line was planned");
  return { startFrame: line.startFrame, endFrame: line.endFrame };
}

/** Used for the title card if there is no image. */
async function extractFirstFrame(
  { folder }: FilmOrder,
  shots: readonly MeasuredShot[],
  signal: AbortSignal,
): Promise<string> {
  const [shot] = shots;
  invariant(shot !== undefined, "a film has a shot");
  const path = join(folder, "first-frame.png");
  const { width, height } = chooseFrame(`${shot.clip.width}:${shot.clip.height}`, [shot.clip]);
  const output = ["-map", "0:V:0", "-frames:v", "1", "-s", `${width}x${height}`, "-c:v", "png", "-f", "image2pipe"];
  const args = [...shot.clipInput, ...output, `file:${path}`];
  const call = { tool: "ffmpeg", source: "strangers", timeoutMs: frameMsMax, stdoutBytesMax: 1000 } as const;
  await runMediaTool({ ...call, args, signal }).catch((error) => {
    throw blameShot(error, { number: 0, signal });
  });
  return path;
}

/** The cues of all shots, with frame numbers of the whole film. */
function listCues({ drawing, timeline }: FilmPlan): SubtitleCue[] {
  return drawing.shots.flatMap(({ cues }, number) => {
    const start = timeline.shots[number]?.startFrame ?? 0;
    return cues.map((cue) => ({ ...cue, startFrame: start + cue.startFrame, endFrame: start + cue.endFrame }));
  });
}

/** Renders shots separately, so that memory use does not depend on the film's length. */
async function renderPieces(
  order: FilmOrder,
  { shots, frame, timeline, drawing }: FilmPlan,
  { signal, onProgress }: AssemblyWatch,
): Promise<{ pieces: Piece[]; shots: HeardShot[] }> {
  const { folder } = order;
  const drawnDir = nameDrawnDir(order);
  const titlePiece = { name: "piece-title.mp4", frameCount: timeline.titleFrames };
  const title = {
    imagePath: join(drawnDir, drawing.titleName),
    frameCount: titlePiece.frameCount,
    path: join(folder, titlePiece.name),
  };
  const pieces: Piece[] = [titlePiece];
  const heard: HeardShot[] = [];
  for (const [number, shot] of shots.entries()) {
    const planned = timeline.shots[number];
    const sheets = drawing.shots[number]?.sheets;
    invariant(planned !== undefined && sheets !== undefined, "every shot was planned and drawn");
    const name = `piece-${number}.mp4`;
    const isFirst = number === 0;
    const piece = {
      ...{ shot, planned, frame, strip: drawing.strip, sheets, drawnDir, folder, path: join(folder, name) },
      fades: { in: isFirst, out: number === shots.length - 1 },
      title: isFirst ? title : null,
    };
    heard.push({ ...shot, clipSound: await renderShot(piece, { number, signal }) });
    pieces.push({ name, frameCount: planned.frameCount });
    onProgress(progress.drawn + Math.floor(((progress.rendered - progress.drawn) * (number + 1)) / shots.length));
  }
  return { pieces, shots: heard };
}
