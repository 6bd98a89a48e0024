/** Somebody who holds a place: since when, and how long one like them usually does. */
export type PlaceHolder = { ageMs: number; usualMs: number };

const waitMsMin = 1000;
const waitMsMax = 60_000;

/** Whoever waits is told a second at least, so that nobody hurries, and a minute at most: by then more is known. */
export function clampWait(waitMs: number): number {
  return Math.ceil(Math.min(waitMsMax, Math.max(waitMsMin, waitMs)));
}

/**
 * How long until one of them is likely done. Whoever has not had their usual time yet needs the rest of it; whoever is
 * overdue is expected to need as long again as they are overdue, so that somebody stuck is asked about ever less often.
 */
export function estimateWait(holders: readonly PlaceHolder[]): number {
  return holders.reduce((least, { ageMs, usualMs }) => Math.min(least, Math.abs(usualMs - ageMs)), waitMsMax);
}

/** The newest duration counts a fifth, those before it ever less. */
const newestWeight = 0.2;

export function averageRecent(averageMs: number | null, durationMs: number): number {
  return averageMs === null ? durationMs : averageMs + newestWeight * (durationMs - averageMs);
}
