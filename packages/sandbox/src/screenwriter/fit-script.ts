import type { DraftLine, DraftScene } from "./scene-draft.ts";
import { cutText, estimateSpeechSeconds, isSpeakable } from "./story-text.ts";

const silentSceneSeconds = 2.5;
const sceneSecondsMin = 4;
const scenesMax = 60;
const linesMax = 300;

export function estimateSceneSeconds({ lines }: { lines: readonly DraftLine[] }): number {
  return lines.length === 0 ? silentSceneSeconds : sumSeconds(lines);
}

/**
 * Shortens a script until it fits the video: first narration, then the later lines of long scenes, then the last
 * scenes. Every scene keeps its start, and short ones stay unchanged.
 */
export function fitScript(scenes: readonly DraftScene[], secondsMax: number): DraftScene[] {
  const isTooLong = sumOf(scenes.map(estimateSceneSeconds)) > secondsMax;
  if (!isTooLong && scenes.length <= scenesMax && countLines(scenes) <= linesMax) return [...scenes];
  return shareSeconds(limitLines(scenes.slice(0, countScenesMax(secondsMax))), secondsMax);
}

/** The number of scenes that a too long script keeps. */
export function countScenesMax(secondsMax: number): number {
  return Math.max(1, Math.min(scenesMax, Math.floor(secondsMax / sceneSecondsMin)));
}

/** Many short lines can fit the time and still exceed the limit of lines. */
function limitLines(scenes: readonly DraftScene[]): DraftScene[] {
  const shares = fillEvenly(
    scenes.map(({ lines }) => lines.length),
    linesMax,
  );
  return scenes.map((scene, index) => ({ ...scene, lines: scene.lines.slice(0, Math.floor(shares[index] ?? 0)) }));
}

function shareSeconds(scenes: readonly DraftScene[], secondsMax: number): DraftScene[] {
  const needs = scenes.map((scene) => {
    const spoken = sumSeconds(scene.lines.filter(({ speaker }) => speaker !== null));
    return { spoken: spoken > 0 ? spoken : silentSceneSeconds, all: estimateSceneSeconds(scene) };
  });
  const spokenShares = fillEvenly(
    needs.map(({ spoken }) => spoken),
    secondsMax,
  );
  const left = secondsMax - sumOf(spokenShares);
  const toldShares = fillEvenly(
    needs.map(({ spoken, all }) => Math.max(0, all - spoken)),
    left,
  );
  return scenes.map((scene, index) => ({
    ...scene,
    lines: fitLines(scene.lines, { spokenSeconds: spokenShares[index] ?? 0, toldSeconds: toldShares[index] ?? 0 }),
  }));
}

/** Small needs are met completely; the rest is shared by the others. */
export function fillEvenly(needs: readonly number[], total: number): number[] {
  const shares = needs.map(() => 0);
  let left = Math.max(0, total);
  let waiting = needs.map((need, index) => ({ need, index })).toSorted((a, b) => a.need - b.need);
  while (waiting.length > 0) {
    const [least, ...others] = waiting;
    if (least === undefined) break;
    const share = Math.min(least.need, left / waiting.length);
    shares[least.index] = share;
    left -= share;
    waiting = others;
  }
  return shares;
}

function fitLines(
  lines: readonly DraftLine[],
  { spokenSeconds, toldSeconds }: { spokenSeconds: number; toldSeconds: number },
): DraftLine[] {
  const hasSpoken = lines.some(({ speaker }) => speaker !== null);
  const left = { spoken: spokenSeconds, told: toldSeconds + (hasSpoken ? 0 : spokenSeconds) };
  const isOver = { spoken: false, told: false };
  const kept: DraftLine[] = [];
  for (const line of lines) {
    const kind = line.speaker === null ? "told" : "spoken";
    if (isOver[kind]) continue;
    const isFirst = !kept.some(({ speaker }) => (speaker === null) === (kind === "told"));
    const fitted = fitLine(line, left[kind], { shareMin: !isFirst ? 1 : hasSpoken && kind === "told" ? 0.4 : 0 });
    isOver[kind] = fitted?.text !== line.text;
    if (fitted === null) continue;
    left[kind] -= estimateSpeechSeconds(fitted.text);
    kept.push(fitted);
  }
  return kept;
}

/** Cuts a line that is too long, if enough remains; else drops it. */
function fitLine(line: DraftLine, secondsMax: number, { shareMin }: { shareMin: number }): DraftLine | null {
  // Tolerance for floating-point sums.
  const fits = (text: string): boolean => estimateSpeechSeconds(text) <= secondsMax + 1e-9;
  if (fits(line.text)) return line;
  const text = cutText(line.text, fits);
  return isSpeakable(text) && text.length >= line.text.length * shareMin ? { ...line, text } : null;
}

function countLines(scenes: readonly DraftScene[]): number {
  return sumOf(scenes.map(({ lines }) => lines.length));
}

function sumSeconds(lines: readonly DraftLine[]): number {
  return sumOf(lines.map(({ text }) => estimateSpeechSeconds(text)));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
