import { estimateReadingSeconds } from "./reading-time.ts";

export const framesPerSecond = 24;
/** The fade in after the title card and the fade out at the end, for video and sound. */
export const filmFadeSeconds = 0.5;

/** A shot's measured lengths. */
export type TimedShot = {
  clipSeconds: number;
  seconds: number;
  /** Whether the clip contains the spoken lines. */
  isVoiced: boolean;
  lines: readonly { text: string; audioSeconds: number | null }[];
};

export type Timeline = {
  titleFrames: number;
  shots: readonly PlannedShot[];
  /** The whole film. */
  frameCount: number;
};

export type PlannedShot = {
  startFrame: number;
  frameCount: number;
  /** The clip's slowdown factor; 1 for none. */
  slowdown: number;
  lines: readonly PlannedLine[];
};

/** Relative to the shot. Captions start and end at whole frames. */
type PlannedLine = { startSeconds: number; startFrame: number; endFrame: number };

const titleSeconds = 2.5;
const shotSecondsMin = 1.2;
const shotSecondsMax = 60;
const slowdownMax = 1.5;
const pauseSeconds = { before: 0.35, between: 0.3, after: 0.45 };

/** Schedules all shots and lines. */
export function planTimeline(shots: readonly TimedShot[]): Timeline {
  const titleFrames = Math.round(titleSeconds * framesPerSecond);
  let frameCount = titleFrames;
  const planned = shots.map((shot) => {
    const plan = shot.isVoiced ? planVoicedShot(shot) : planShot(shot);
    const startFrame = frameCount;
    frameCount += plan.frameCount;
    return { ...plan, startFrame };
  });
  return { titleFrames, shots: planned, frameCount };
}

type ShotPlan = Omit<PlannedShot, "startFrame">;

/** As long as its lines; a shorter clip is slowed down within limits. */
function planShot({ clipSeconds, seconds, lines }: TimedShot): ShotPlan {
  let now = pauseSeconds.before;
  const spans = lines.map(({ text, audioSeconds }) => {
    const start = now;
    now += audioSeconds ?? estimateReadingSeconds(text);
    const span = { start, end: now };
    now += pauseSeconds.between;
    return span;
  });
  const saidSeconds = now - pauseSeconds.between + pauseSeconds.after;
  const shotSeconds = Math.max(shotSecondsMin, lines.length === 0 ? Math.min(seconds, shotSecondsMax) : saidSeconds);
  const frameCount = Math.ceil(shotSeconds * framesPerSecond - 0.001);
  return {
    frameCount,
    slowdown: Math.min(slowdownMax, Math.max(1, frameCount / framesPerSecond / clipSeconds)),
    lines: spans.map((span) => roundLine(span, frameCount)),
  };
}

/** As long as its clip; its lines follow each other as in the audio given to the avatar model. */
function planVoicedShot({ clipSeconds, lines }: TimedShot): ShotPlan {
  const frameCount = Math.max(1, Math.round(clipSeconds * framesPerSecond));
  const lengths = lines.map(({ text, audioSeconds }) => audioSeconds ?? estimateReadingSeconds(text));
  const saidSeconds = lengths.reduce((sum, length) => sum + length, 0);
  const pace = Math.min(1, clipSeconds / Math.max(saidSeconds, Number.EPSILON));
  let now = 0;
  const spans = lengths.map((length) => {
    const start = now;
    now += length * pace;
    return { start, end: now };
  });
  return { frameCount, slowdown: 1, lines: spans.map((span) => roundLine(span, frameCount)) };
}

/** A caption is shown for at least one frame. */
function roundLine({ start, end }: { start: number; end: number }, frameCount: number): PlannedLine {
  const startFrame = Math.min(frameCount - 1, Math.round(start * framesPerSecond));
  const endFrame = Math.min(frameCount, Math.max(startFrame + 1, Math.round(end * framesPerSecond)));
  return { startSeconds: start, startFrame, endFrame };
}
