import { fromDecibels } from "./speech-level.ts";

/** When a sound is audible, in seconds relative to the shot. */
export type Span = { start: number; end: number };

const bedGain = fromDecibels(-18);
const duckedGain = fromDecibels(-8);
const duckSeconds = 0.15;
const bedFadeSeconds = 0.12;
const speechFade = { in: 0.008, out: 0.02 };

/** The gain of a clip's own sound: low, ducked under speech, and faded at cuts. */
export function chooseBedGain(now: number, end: number, speech: readonly Span[]): number {
  const fade = fadeBetween(now, { start: 0, end }, { in: bedFadeSeconds, out: bedFadeSeconds });
  const nearest = speech.reduce((least, span) => Math.min(least, Math.max(span.start - now, now - span.end)), 1);
  const free = Math.min(1, Math.max(0, nearest / duckSeconds));
  return bedGain * fade * (duckedGain + (1 - duckedGain) * free);
}

/** A short fade that prevents clicks. */
export function chooseSpeechGain(now: number, span: Span): number {
  return fadeBetween(now, span, speechFade);
}

/** Rises from 0 to 1, then falls to 0. */
export function fadeBetween(now: number, { start, end }: Span, seconds: { in: number; out: number }): number {
  const [rise, fall] = [(now - start) / seconds.in, (end - now) / seconds.out];
  return Math.min(1, Math.max(0, Math.min(rise, fall)));
}
