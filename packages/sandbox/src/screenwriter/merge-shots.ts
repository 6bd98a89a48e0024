import type { AskedLine, AskedScene } from "./drama-question.ts";

export type PlannedShot = { scene: AskedScene; lines: readonly AskedLine[]; seconds: number };

const sharedSecondsMax = 9;
const shortSecondsMax = 1.6;
const linesOfShotMax = 20;

/**
 * Merges neighbouring shots if there are too many. Down to the usual number, only those that look good together: one
 * continuing voice, or a short exchange. Down to the maximum, any.
 */
export function mergeShots(
  shots: readonly PlannedShot[],
  { usual, max }: { usual: number; max: number },
): PlannedShot[] {
  let merged = mergeShortExchanges(mergeVoices(shots));
  const usualMax = Math.min(usual, max);
  while (merged.length > usualMax) {
    const next = mergeBest(merged, rateExchange);
    if (next === null) break;
    merged = next;
  }
  while (merged.length > max) {
    const next = dropView(merged) ?? mergeBest(merged, rateAny);
    if (next === null) break;
    merged = next;
  }
  return merged;
}

/** Merges a continuing speaker, and a view with the narrator's voice-over, into one shot. */
function mergeVoices(shots: readonly PlannedShot[]): PlannedShot[] {
  const merged: PlannedShot[] = [];
  for (const shot of shots) {
    const last = merged.at(-1);
    const isSame =
      last !== undefined &&
      last.scene === shot.scene &&
      last.lines.length > 0 &&
      last.lines.at(-1)?.speaker === shot.lines[0]?.speaker &&
      last.seconds + shot.seconds <= sharedSecondsMax;
    if (isSame) merged[merged.length - 1] = join(last, shot);
    else merged.push(shot);
  }
  return merged;
}

/** A short line and its answer share a shot. */
function mergeShortExchanges(shots: readonly PlannedShot[]): PlannedShot[] {
  const merged: PlannedShot[] = [];
  for (const shot of shots) {
    const last = merged.at(-1);
    const isShort = [last, shot].every((each) => each?.lines.length === 1 && each.seconds <= shortSecondsMax);
    if (last !== undefined && isShort && rateExchange(last, shot) !== null)
      merged[merged.length - 1] = join(last, shot);
    else merged.push(shot);
  }
  return merged;
}

/** Lower is better; `null` if two should not be merged. */
type Rate = (a: PlannedShot, b: PlannedShot) => number | null;

function rateExchange(a: PlannedShot, b: PlannedShot): number | null {
  const lines = [...a.lines, ...b.lines];
  const isMixed = lines.some(({ speaker }) => speaker === null) && lines.some(({ speaker }) => speaker !== null);
  const voices = new Set(lines.map(({ speaker }) => speaker));
  const seconds = a.seconds + b.seconds;
  if (a.scene !== b.scene || a.lines.length === 0 || isMixed || voices.size > 2 || seconds > sharedSecondsMax)
    return null;
  return seconds;
}

function rateAny(a: PlannedShot, b: PlannedShot): number {
  const isLong = a.lines.length + b.lines.length > linesOfShotMax;
  return a.seconds + b.seconds + (a.scene === b.scene ? 0 : 1000) + (isLong ? 100_000 : 0);
}

function mergeBest(shots: readonly PlannedShot[], rate: Rate): PlannedShot[] | null {
  let best: { index: number; rating: number } | null = null;
  for (let index = 1; index < shots.length; index += 1) {
    const [a, b] = [shots[index - 1], shots[index]];
    const rating = a === undefined || b === undefined ? null : rate(a, b);
    if (rating !== null && (best === null || rating < best.rating)) best = { index, rating };
  }
  if (best === null) return null;
  const [a, b] = [shots[best.index - 1], shots[best.index]];
  return a === undefined || b === undefined ? null : shots.toSpliced(best.index - 1, 2, join(a, b));
}

/** Views without words are dropped first. */
function dropView(shots: readonly PlannedShot[]): PlannedShot[] | null {
  const index = shots.findLastIndex(({ lines }) => lines.length === 0);
  return index < 0 || shots.length === 1 ? null : shots.toSpliced(index, 1);
}

function join(a: PlannedShot, b: PlannedShot): PlannedShot {
  return { scene: a.scene, lines: [...a.lines, ...b.lines], seconds: a.seconds + b.seconds };
}
